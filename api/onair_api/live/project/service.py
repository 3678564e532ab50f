"""Projects: create, read, update, delete."""

from __future__ import annotations

from onair_api.access.hidden_fields import project_without_addresses
from onair_api.access.ownership import owned_collection, owned_project
from onair_api.auth.callers import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import DESTINATION, LAYOUT, PROJECT
from onair_api.errors import FailedPrecondition
from onair_api.live.broadcast.service import on_air, status_of
from onair_api.live.project.programme import same_programme
from onair_api.live.project.record import PROJECT_MESSAGE, ProjectRecords
from onair_api.live.project.studio_renderer import as_studio_sdk, without_derived_url
from onair_api.operation import Ids
from onair_api.settings import LimitSettings
from onair_api.wire.spec import created_spec, updated_spec
from onair_api.writes.removal import remove_all
from onair_api.writes.request_note import RequestNote
from onair_api.writes.writer import Permit, Writer
from onair_crds.kube.store import Entry
from onair_crds.resources.project import ProjectSpec
from onair_crds.shapes import JsonObject


class Projects:
    def __init__(
        self, cluster: Cluster, writer: Writer, records: ProjectRecords, limits: LimitSettings
    ) -> None:
        self._cluster = cluster
        self._writer = writer
        self._records = records
        self._limits = limits

    async def create(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        collection = await owned_collection(self._cluster, caller.identity, ids["collectionId"])
        note = caller.note(message, self._limits.request_metadata_bytes)
        spec = created_spec(
            ProjectSpec,
            PROJECT_MESSAGE,
            as_studio_sdk(message),
            self._limits.metadata_bytes,
            collectionId=collection.name,
        )
        spec = without_derived_url(spec, {}, self._records.renderer_base_url)
        entry = await self._writer.create(PROJECT, spec, note, owner=collection)
        return {"project": await self._record(caller, entry)}

    async def get(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        entry = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        response = {"project": await self._record(caller, entry)}
        if message["status"]:
            response["status"] = status_of(entry, caller.identity)
        return response

    async def update(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        note = caller.note(message, self._limits.request_metadata_bytes)

        async def change(entry: Entry) -> JsonObject:
            limit = self._limits.metadata_bytes
            spec = updated_spec(ProjectSpec, PROJECT_MESSAGE, entry.spec, as_studio_sdk(message), limit)
            return without_derived_url(spec, entry.spec, self._records.renderer_base_url)

        before, after = await self._writer.update(project, change, note)
        updated = on_air(after) and not same_programme(before.spec, after.spec)
        return {"project": await self._record(caller, after), "broadcastUpdated": updated}

    async def delete(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        stopped = False

        def permit(entry: Entry) -> None:
            nonlocal stopped
            stopped = on_air(entry)
            if stopped and not message["force"]:
                raise FailedPrecondition(
                    "the project is broadcasting: stop it first, or delete with force=true"
                )

        layouts = await self.remove(project, caller.note(), permit)
        return {"broadcastStopped": stopped, "layoutsDeleted": layouts}

    async def remove(self, project: Entry, note: RequestNote, permit: Permit | None = None) -> int:
        """Deletes a project with all that it owns; gives the number of its layouts.

        A live project stays, deleted, until the operator has stopped the show;
        its destinations then go with it by their owner references, not before.
        """
        view = self._cluster.view
        layouts, destinations = view.children(LAYOUT, project.name), view.children(DESTINATION, project.name)
        if await self._writer.delete(project, note, permit):
            await remove_all(self._writer, destinations, note)
        await remove_all(self._writer, layouts, note)
        return len(layouts)

    async def _record(self, caller: Caller, entry: Entry) -> JsonObject:
        record = await self._records.record(entry, secrets=caller.identity.sees_secrets)
        return record if caller.identity.sees_addresses else project_without_addresses(record)
