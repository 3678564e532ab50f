"""Destinations: create, read, update, delete."""

from __future__ import annotations

from typing import Any

from onair_api.access.ownership import owned_destination, owned_project
from onair_api.auth.caller import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import DESTINATION
from onair_api.cache.view import Entry
from onair_api.errors import FailedPrecondition
from onair_api.live.broadcast.service import on_air
from onair_api.live.destination.record import DESTINATION_MESSAGE, destination_record
from onair_api.live.destination.secret_versions import SecretVersions
from onair_api.settings import LimitSettings
from onair_api.wire.decode import Decoder
from onair_api.wire.mask import merged
from onair_api.wire.validation import check
from onair_api.writes.credentials import Credentials
from onair_api.writes.identifiers import new_id
from onair_api.writes.json_patch import same
from onair_api.writes.writer import Writer
from onair_crds.resources.destination import DestinationSpec

PLAN_INPUT = ("enabled", "address", "timeout")
"""Fields that a running broadcast is made from."""


class Destinations:
    def __init__(
        self, cluster: Cluster, writer: Writer, credentials: Credentials, limits: LimitSettings
    ) -> None:
        self._cluster = cluster
        self._writer = writer
        self._credentials = credentials
        self._limits = limits

    async def create(
        self, caller: Caller, collection_id: str, project_id: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        note = caller.note(body, self._limits.request_metadata_bytes)
        decoder = Decoder(self._limits.metadata_bytes)
        spec = {"projectId": project.name, **decoder.message(DESTINATION_MESSAGE, body)}
        name = new_id()
        async with SecretVersions(self._credentials, name) as versions:
            versions.take(spec, {}, decoder.violations)
            check(DestinationSpec, spec, decoder.violations)
            await versions.store(spec)
            entry = await self._writer.create(DESTINATION, spec, note, owner=project, name=name)
            versions.keep(entry.spec)
        return {"destination": await self._record(caller, collection_id, entry)}

    async def get(
        self, caller: Caller, collection_id: str, project_id: str, destination_id: str
    ) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        entry = await owned_destination(self._cluster, project, destination_id)
        return {"destination": await self._record(caller, collection_id, entry)}

    async def update(
        self,
        caller: Caller,
        collection_id: str,
        project_id: str,
        destination_id: str,
        body: dict[str, Any],
    ) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        destination = await owned_destination(self._cluster, project, destination_id)
        note = caller.note(body, self._limits.request_metadata_bytes)
        async with SecretVersions(self._credentials, destination.name) as versions:

            async def change(entry: Entry) -> dict[str, Any]:
                decoder = Decoder(self._limits.metadata_bytes)
                present = await versions.present(entry.spec)
                spec = merged(DESTINATION_MESSAGE, versions.as_read(entry.spec, present), body, decoder)
                versions.take(spec, present, decoder.violations)
                check(DestinationSpec, spec, decoder.violations)
                await versions.store(spec)
                return spec

            before, after = await self._writer.update(DESTINATION, destination.name, change, note)
            versions.keep(after.spec)
        changed = any(not same(before.spec.get(name), after.spec.get(name)) for name in PLAN_INPUT)
        sent = bool(before.spec.get("enabled") or after.spec.get("enabled"))
        return {
            "destination": await self._record(caller, collection_id, after),
            "broadcastUpdated": changed and sent and on_air(project),
        }

    async def delete(
        self, caller: Caller, collection_id: str, project_id: str, destination_id: str, *, force: bool
    ) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        entry = await owned_destination(self._cluster, project, destination_id)
        enabled = False

        def permit(version: Entry) -> None:
            nonlocal enabled
            enabled = bool(version.spec.get("enabled"))
            if enabled and not force:
                raise FailedPrecondition(
                    "the destination is enabled: disable it first, or delete with force=true"
                )

        await self._writer.delete(entry, caller.note(), permit)
        return {"broadcastUpdated": enabled and on_air(project)}

    async def _record(self, caller: Caller, collection_id: str, entry: Entry) -> dict[str, Any]:
        return await destination_record(
            entry, collection_id, self._credentials, secrets=caller.identity.sees_secrets
        )
