"""Sources of a collection in one of its projects, with the triggers that start and stop its broadcast."""

from __future__ import annotations

import copy
from typing import Any

from onair_api.access.ownership import owned_project, source_of
from onair_api.auth.caller import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import PROJECT
from onair_api.cache.view import Entry
from onair_api.errors import FailedPrecondition, NotFound, Violation
from onair_api.live.broadcast.service import on_air
from onair_api.live.project.record import Readers, project_record
from onair_api.live.source.service import IN_USE, without_source
from onair_api.settings import LimitSettings
from onair_api.wire.decode import Decoder
from onair_api.wire.mask import merged
from onair_api.wire.message import message_of
from onair_api.wire.validation import check
from onair_api.writes.writer import Writer
from onair_crds.resources.project import ProjectSource, ProjectSpec

PROJECT_SOURCE_MESSAGE = message_of(ProjectSource).only("trigger")


class ProjectSources:
    def __init__(self, cluster: Cluster, writer: Writer, readers: Readers, limits: LimitSettings) -> None:
        self._cluster = cluster
        self._writer = writer
        self._readers = readers
        self._limits = limits

    async def add(
        self, caller: Caller, collection_id: str, project_id: str, source_id: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        """One that is there already gets the new trigger, where one is given."""
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        source = await source_of(self._cluster, collection_id, source_id)

        async def change(entry: Entry) -> dict[str, Any]:
            spec = copy.deepcopy(entry.spec)
            items = spec.setdefault("sources", [])
            item = _find(items, source.name)
            if item is None:
                items.append(item := {"sourceId": source.name})
            item.update(self._given(body, source.name))
            check(ProjectSpec, spec)
            return spec

        return await self._update(caller, project, change, body)

    async def update(
        self, caller: Caller, collection_id: str, project_id: str, source_id: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)

        async def change(entry: Entry) -> dict[str, Any]:
            spec = copy.deepcopy(entry.spec)
            item = _present(spec, source_id)
            decoder = _decoder(body, source_id, self._limits)
            changed = merged(PROJECT_SOURCE_MESSAGE, item, body, decoder)
            check(ProjectSource, changed, decoder.violations)
            item.clear()
            item.update(changed)
            return spec

        answer = await self._update(caller, project, change, body)
        return {"project": answer["project"]}

    async def remove(
        self, caller: Caller, collection_id: str, project_id: str, source_id: str, *, force: bool
    ) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)

        async def change(entry: Entry) -> dict[str, Any]:
            _present(entry.spec, source_id)
            if on_air(entry) and not force:
                raise FailedPrecondition(IN_USE)
            return without_source(entry.spec, source_id)

        return await self._update(caller, project, change, None)

    async def _update(
        self, caller: Caller, project: Entry, change: Any, body: dict[str, Any] | None
    ) -> dict[str, Any]:
        note = caller.note(body, self._limits.request_metadata_bytes)
        before, after = await self._writer.update(PROJECT, project.name, change, note)
        secrets = caller.identity.sees_secrets
        return {
            "project": await project_record(self._readers, after, secrets=secrets),
            "broadcastUpdated": _names(before) != _names(after) and on_air(after),
        }

    def _given(self, body: dict[str, Any], source_id: str) -> dict[str, Any]:
        decoder = _decoder(body, source_id, self._limits)
        item = decoder.message(PROJECT_SOURCE_MESSAGE, body)
        check(ProjectSource, {"sourceId": source_id, **item}, decoder.violations)
        return item


def _decoder(body: dict[str, Any], source_id: str, limits: LimitSettings) -> Decoder:
    """What a body says, and whether it speaks of the source of the path."""
    decoder = Decoder(limits.metadata_bytes)
    trigger = body.get("trigger")
    if isinstance(trigger, dict):
        named = trigger.get("sourceId", trigger.get("source_id"))
        if named is not None and named != source_id:
            decoder.violations.append(
                Violation("trigger.sourceId", "must be the source of the path, or be left out")
            )
    return decoder


def _find(items: list[dict[str, Any]], source_id: str) -> dict[str, Any] | None:
    return next((each for each in items if each["sourceId"] == source_id), None)


def _present(spec: dict[str, Any], source_id: str) -> dict[str, Any]:
    """
    Raises:
        NotFound: the source is not in the project.
    """
    item = _find(spec.get("sources") or [], source_id)
    if item is None:
        raise NotFound("the source is not in the project")
    return item


def _names(project: Entry) -> list[str]:
    return [each["sourceId"] for each in project.spec.get("sources") or []]
