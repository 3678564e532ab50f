"""Projects: create, read, update, delete."""

from __future__ import annotations

from typing import Any

from onair_api.access.ownership import owned_collection, owned_project
from onair_api.auth.caller import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import DESTINATION, LAYOUT, PROJECT
from onair_api.cache.view import Entry
from onair_api.errors import FailedPrecondition
from onair_api.live.broadcast.service import on_air, status_of
from onair_api.live.project.record import PROJECT_MESSAGE, Readers, project_record
from onair_api.settings import LimitSettings
from onair_api.wire.decode import Decoder
from onair_api.wire.mask import merged
from onair_api.wire.validation import check
from onair_api.writes.json_patch import same
from onair_api.writes.removal import remove_all
from onair_api.writes.request_note import RequestNote
from onair_api.writes.writer import Permit, Writer
from onair_crds.resources.project import ProjectSpec

PLAN_INPUT = ("rendering", "encoding", "composition", "maxDuration")
"""Fields that a running broadcast is made from."""


class Projects:
    def __init__(self, cluster: Cluster, writer: Writer, readers: Readers, limits: LimitSettings) -> None:
        self._cluster = cluster
        self._writer = writer
        self._readers = readers
        self._limits = limits

    async def create(self, caller: Caller, collection_id: str, body: dict[str, Any]) -> dict[str, Any]:
        collection = await owned_collection(self._cluster, caller.identity, collection_id)
        note = caller.note(body, self._limits.request_metadata_bytes)
        decoder = Decoder(self._limits.metadata_bytes)
        spec = {"collectionId": collection.name, **decoder.message(PROJECT_MESSAGE, body)}
        check(ProjectSpec, spec, decoder.violations)
        entry = await self._writer.create(PROJECT, spec, note, owner=collection)
        return {"project": await self._record(caller, entry)}

    async def get(
        self, caller: Caller, collection_id: str, project_id: str, *, status: bool
    ) -> dict[str, Any]:
        entry = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        answer = {"project": await self._record(caller, entry)}
        if status:
            answer["status"] = status_of(entry)
        return answer

    async def update(
        self, caller: Caller, collection_id: str, project_id: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        note = caller.note(body, self._limits.request_metadata_bytes)

        async def change(entry: Entry) -> dict[str, Any]:
            decoder = Decoder(self._limits.metadata_bytes)
            spec = merged(PROJECT_MESSAGE, entry.spec, body, decoder)
            check(ProjectSpec, spec, decoder.violations)
            return spec

        before, after = await self._writer.update(PROJECT, project.name, change, note)
        changed = any(not same(before.spec.get(name), after.spec.get(name)) for name in PLAN_INPUT)
        return {"project": await self._record(caller, after), "broadcastUpdated": changed and on_air(after)}

    async def delete(
        self, caller: Caller, collection_id: str, project_id: str, *, force: bool
    ) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        stopped = False

        def permit(entry: Entry) -> None:
            nonlocal stopped
            stopped = on_air(entry)
            if stopped and not force:
                raise FailedPrecondition(
                    "the project is broadcasting: stop it first, or delete with force=true"
                )

        layouts = await self.remove(project, caller.note(), permit)
        return {"broadcastStopped": stopped, "layoutsDeleted": layouts}

    async def remove(self, project: Entry, note: RequestNote, permit: Permit | None = None) -> int:
        """Deletes a project with all that it owns; gives the number of its layouts.

        A live project stays, deleted, until the operator has ended the show;
        its destinations then go with it by their owner references, not before.
        """
        view = self._cluster.view
        layouts, destinations = view.children(LAYOUT, project.name), view.children(DESTINATION, project.name)
        if await self._writer.delete(project, note, permit):
            await remove_all(self._writer, destinations, note)
        await remove_all(self._writer, layouts, note)
        return len(layouts)

    async def _record(self, caller: Caller, entry: Entry) -> dict[str, Any]:
        return await project_record(self._readers, entry, secrets=caller.identity.sees_secrets)
