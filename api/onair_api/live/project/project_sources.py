"""Sources of a collection in one of its projects, with the triggers that start and stop its broadcast."""

from __future__ import annotations

from onair_api.access.ownership import owned_project, source_of
from onair_api.auth.callers import Caller
from onair_api.cache.cluster import Cluster
from onair_api.errors import FailedPrecondition, NotFound, Violation
from onair_api.live.broadcast.service import on_air
from onair_api.live.project.record import ProjectRecords
from onair_api.live.source.service import IN_USE, without_source
from onair_api.operation import Ids
from onair_api.settings import LimitSettings
from onair_api.wire.decode import Decoder
from onair_api.wire.message import message_of
from onair_api.wire.model_violations import check
from onair_api.wire.working_copy import working_copy
from onair_api.writes.writer import SpecChange, Writer
from onair_crds.kube.store import Entry
from onair_crds.resources.project import ProjectSource, ProjectSpec
from onair_crds.shapes import JsonObject

PROJECT_SOURCE_MESSAGE = message_of(ProjectSource).only("trigger")


class ProjectSources:
    def __init__(
        self, cluster: Cluster, writer: Writer, records: ProjectRecords, limits: LimitSettings
    ) -> None:
        self._cluster = cluster
        self._writer = writer
        self._records = records
        self._limits = limits

    async def add(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """One that is there already gets the new trigger, where one is given."""
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        source = await source_of(self._cluster, ids["collectionId"], ids["sourceId"])

        async def change(entry: Entry) -> JsonObject:
            spec = working_copy(entry.spec)
            items = spec.setdefault("sources", [])
            item = _find(items, source.name)
            if item is None:
                items.append(item := {"sourceId": source.name})
            item.update(self._given(message, source.name))
            check(ProjectSpec, spec)
            return spec

        return await self._update(caller, project, change, message)

    async def update(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])

        async def change(entry: Entry) -> JsonObject:
            spec = working_copy(entry.spec)
            item = _present(spec, ids["sourceId"])
            decoder = _decoder(message, ids["sourceId"], self._limits)
            changed = decoder.merged(PROJECT_SOURCE_MESSAGE, item, message)
            check(ProjectSource, changed, decoder.violations)
            item.clear()
            item.update(changed)
            return spec

        response = await self._update(caller, project, change, message)
        return {"project": response["project"]}

    async def remove(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])

        async def change(entry: Entry) -> JsonObject:
            _present(entry.spec, ids["sourceId"])
            if on_air(entry) and not message["force"]:
                raise FailedPrecondition(IN_USE)
            return without_source(entry.spec, ids["sourceId"])

        return await self._update(caller, project, change, message)

    async def _update(
        self, caller: Caller, project: Entry, change: SpecChange, message: JsonObject
    ) -> JsonObject:
        note = caller.note(message, self._limits.request_metadata_bytes)
        before, after = await self._writer.update(project, change, note)
        secrets = caller.identity.sees_secrets
        return {
            "project": await self._records.record(after, secrets=secrets),
            "broadcastUpdated": _names(before) != _names(after) and on_air(after),
        }

    def _given(self, message: JsonObject, source_id: str) -> JsonObject:
        decoder = _decoder(message, source_id, self._limits)
        item = decoder.message(PROJECT_SOURCE_MESSAGE, message)
        check(ProjectSource, {"sourceId": source_id, **item}, decoder.violations)
        return item


def _decoder(message: JsonObject, source_id: str, limits: LimitSettings) -> Decoder:
    """A decoder of the request; refuses a trigger that names another source than the path."""
    decoder = Decoder(limits.metadata_bytes)
    trigger = message.get("trigger")
    if isinstance(trigger, dict):
        named = trigger.get("sourceId", trigger.get("source_id"))
        if named is not None and named != source_id:
            decoder.violations.append(
                Violation("trigger.sourceId", "must be the source of the path, or be absent")
            )
    return decoder


def _find(items: list[JsonObject], source_id: str) -> JsonObject | None:
    return next((each for each in items if each["sourceId"] == source_id), None)


def _present(spec: JsonObject, source_id: str) -> JsonObject:
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
