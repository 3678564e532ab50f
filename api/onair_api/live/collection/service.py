"""Collections: create, list, read, update, delete with all that they own."""

from __future__ import annotations

from typing import Any

from onair_api.access.ownership import owned_collection
from onair_api.auth.caller import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import COLLECTION, PROJECT, SOURCE
from onair_api.cache.view import Entry
from onair_api.errors import FailedPrecondition, NotFound
from onair_api.live.broadcast.service import on_air
from onair_api.live.project.record import Readers, project_record
from onair_api.live.project.service import Projects
from onair_api.live.source.service import Sources
from onair_api.settings import LimitSettings
from onair_api.wire.decode import Decoder
from onair_api.wire.encode import encode_message
from onair_api.wire.mask import merged
from onair_api.wire.message import message_of
from onair_api.wire.validation import check
from onair_api.writes.removal import remove_all
from onair_api.writes.writer import Writer
from onair_crds.resources.collection import CollectionSpec

COLLECTION_MESSAGE = message_of(CollectionSpec).only("metadata")


class Collections:
    def __init__(
        self,
        cluster: Cluster,
        writer: Writer,
        readers: Readers,
        projects: Projects,
        sources: Sources,
        limits: LimitSettings,
    ) -> None:
        self._cluster = cluster
        self._writer = writer
        self._readers = readers
        self._projects = projects
        self._sources = sources
        self._limits = limits

    async def list(self, caller: Caller) -> dict[str, Any]:
        """All collections of the caller's, with their projects and sources, oldest first."""
        entries = self._cluster.view.children(COLLECTION, *caller.identity.owner)
        return {"collections": [await self._record(caller, entry) for entry in entries]}

    async def create(self, caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
        note = caller.note(body, self._limits.request_metadata_bytes)
        decoder = Decoder(self._limits.metadata_bytes)
        service_id, service_user_id = caller.identity.owner
        owner = {"serviceId": service_id, "serviceUserId": service_user_id}
        spec = {"owner": owner, **decoder.message(COLLECTION_MESSAGE, body)}
        check(CollectionSpec, spec, decoder.violations)
        entry = await self._writer.create(COLLECTION, spec, note)
        return {"collection": await self._record(caller, entry)}

    async def get(
        self, caller: Caller, collection_id: str, *, projects: bool, sources: bool
    ) -> dict[str, Any]:
        entry = await owned_collection(self._cluster, caller.identity, collection_id)
        return {"collection": await self._record(caller, entry, projects=projects, sources=sources)}

    async def update(self, caller: Caller, collection_id: str, body: dict[str, Any]) -> dict[str, Any]:
        collection = await owned_collection(self._cluster, caller.identity, collection_id)
        note = caller.note(body, self._limits.request_metadata_bytes)

        async def change(entry: Entry) -> dict[str, Any]:
            decoder = Decoder(self._limits.metadata_bytes)
            spec = merged(COLLECTION_MESSAGE, entry.spec, body, decoder)
            check(CollectionSpec, spec, decoder.violations)
            return spec

        _, after = await self._writer.update(COLLECTION, collection.name, change, note)
        return {"collection": await self._record(caller, after)}

    async def delete(self, caller: Caller, collection_id: str, *, force: bool) -> dict[str, Any]:
        """Deletes children before the collection, so that a failure in between can be tried again."""
        collection = await owned_collection(self._cluster, caller.identity, collection_id)
        note = caller.note()
        view = self._cluster.view
        projects, sources = (view.children(kind, collection.name) for kind in (PROJECT, SOURCE))
        stopped: dict[str, bool] = {}

        def permit(project: Entry) -> None:
            stopped[project.name] = on_air(project)
            if stopped[project.name] and not force:
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
    ) -> dict[str, Any]:
        view = self._cluster.view
        record: dict[str, Any] | None = entry.records.get("wire")
        if record is None:
            written = encode_message(COLLECTION_MESSAGE, entry.spec)
            record = entry.records["wire"] = {"collectionId": entry.name, **written}
        secrets = caller.identity.sees_secrets
        return {
            **record,
            "projects": [
                await project_record(self._readers, each, secrets=secrets)
                for each in (view.children(PROJECT, entry.name) if projects else [])
            ],
            "sources": [
                await self._readers.sources.record(each, secrets=secrets)
                for each in (view.children(SOURCE, entry.name) if sources else [])
            ],
        }
