"""Collections: create, list, read, update, delete with all that they own."""

from __future__ import annotations

from onair_api.access.ownership import owned_collection
from onair_api.auth.callers import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import COLLECTION, PROJECT, SOURCE
from onair_api.errors import FailedPrecondition, NotFound
from onair_api.live.broadcast.service import on_air
from onair_api.live.project.record import ProjectRecords
from onair_api.live.project.service import Projects
from onair_api.live.source.service import Sources
from onair_api.operation import Ids
from onair_api.settings import LimitSettings
from onair_api.wire.encode import encode_message
from onair_api.wire.list_page import page_of
from onair_api.wire.message import message_of
from onair_api.wire.spec import created_spec, updated_spec
from onair_api.writes.quota_enforcement import Quotas
from onair_api.writes.removal import remove_all
from onair_api.writes.writer import Writer
from onair_crds.kube.store import Entry
from onair_crds.resources.collection import CollectionSpec
from onair_crds.runtime.steps import in_steps
from onair_crds.shapes import JsonObject

COLLECTION_MESSAGE = message_of(CollectionSpec).only("metadata")


class Collections:
    def __init__(
        self,
        cluster: Cluster,
        writer: Writer,
        records: ProjectRecords,
        projects: Projects,
        sources: Sources,
        limits: LimitSettings,
        quotas: Quotas,
    ) -> None:
        self._quotas = quotas
        self._cluster = cluster
        self._writer = writer
        self._records = records
        self._projects = projects
        self._sources = sources
        self._limits = limits

    async def list_collections(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """The caller's collections, with their projects and sources, oldest first."""
        entries = self._cluster.view.children(COLLECTION, *caller.identity.owner)
        size = self._quotas.collection_bytes
        page = page_of(entries, message, lambda entry: entry.created, size=size)
        found = [await self._record(caller, entry) async for entry in in_steps(page.items)]
        return {"collections": found, **page.field}

    async def create(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        note = caller.note(message, self._limits.request_metadata_bytes)
        service_id, service_user_id = caller.identity.owner
        owner = {"serviceId": service_id, "serviceUserId": service_user_id}
        spec = created_spec(
            CollectionSpec, COLLECTION_MESSAGE, message, self._limits.metadata_bytes, owner=owner
        )
        entry = await self._writer.create(COLLECTION, spec, note)
        return {"collection": await self._record(caller, entry)}

    async def get(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        entry = await owned_collection(self._cluster, caller.identity, ids["collectionId"])
        projects, sources = message["populateProjects"], message["populateSources"]
        return {"collection": await self._record(caller, entry, projects=projects, sources=sources)}

    async def update(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        collection = await owned_collection(self._cluster, caller.identity, ids["collectionId"])
        note = caller.note(message, self._limits.request_metadata_bytes)

        async def change(entry: Entry) -> JsonObject:
            limit = self._limits.metadata_bytes
            return updated_spec(CollectionSpec, COLLECTION_MESSAGE, entry.spec, message, limit)

        _, after = await self._writer.update(collection, change, note)
        return {"collection": await self._record(caller, after)}

    async def delete(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Deletes children before the collection, so that a failure in between can be retried."""
        collection = await owned_collection(self._cluster, caller.identity, ids["collectionId"])
        note = caller.note()
        view = self._cluster.view
        projects, sources = (view.children(kind, collection.name) for kind in (PROJECT, SOURCE))
        stopped: dict[str, bool] = {}

        def permit(project: Entry) -> None:
            stopped[project.name] = on_air(project)
            if stopped[project.name] and not message["force"]:
                raise FailedPrecondition(
                    "a project of the collection is broadcasting: stop it first, or delete with force=true"
                )

        for project in projects:
            permit(project)
        for project in projects:
            try:
                await self._projects.remove(project, note, permit)
            except NotFound:
                continue
        await self._sources.remove(sources, note)
        await remove_all(self._writer, [collection], note)
        return {
            "sourcesDeleted": len(sources),
            "projectsDeleted": len(projects),
            "projectIdsStopped": [name for name, running in stopped.items() if running],
        }

    async def _record(
        self, caller: Caller, entry: Entry, *, projects: bool = True, sources: bool = True
    ) -> JsonObject:
        view = self._cluster.view
        record: JsonObject | None = entry.records.get("wire")
        if record is None:
            written = encode_message(COLLECTION_MESSAGE, entry.spec)
            record = entry.records["wire"] = {"collectionId": entry.name, **written}
        secrets = caller.identity.sees_secrets
        return {
            **record,
            "projects": [
                await self._records.record(each, secrets=secrets)
                async for each in in_steps(view.children(PROJECT, entry.name) if projects else [])
            ],
            "sources": [
                await self._records.sources.record(each, secrets=secrets)
                async for each in in_steps(view.children(SOURCE, entry.name) if sources else [])
            ],
        }
