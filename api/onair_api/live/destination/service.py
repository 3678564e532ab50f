"""Destinations: create, read, update, delete."""

from __future__ import annotations

import functools

from onair_api.access.ownership import owned_destination, owned_project
from onair_api.auth.callers import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import DESTINATION
from onair_api.errors import FailedPrecondition
from onair_api.live.broadcast.service import on_air
from onair_api.live.destination.record import destination_record
from onair_api.live.destination.secret_versions import SecretVersions
from onair_api.operation import Ids
from onair_api.settings import LimitSettings
from onair_api.writes.credential_secrets import Credentials
from onair_api.writes.identifiers import new_id
from onair_api.writes.json_patch import same
from onair_api.writes.writer import Writer
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject

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

    async def create(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await self._project(caller, ids)
        note = caller.note(message, self._limits.request_metadata_bytes)
        async with self._secrets_of(caller, new_id()) as secrets:
            spec = await secrets.created_spec(project.name, message)
            name = secrets.destination_id
            entry = await self._writer.create(DESTINATION, spec, note, owner=project, name=name)
            secrets.keep(entry.spec)
        return {"destination": await self._record(caller, ids, entry)}

    async def get(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await self._project(caller, ids)
        entry = await owned_destination(self._cluster, project, ids["destinationId"])
        return {"destination": await self._record(caller, ids, entry)}

    async def update(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await self._project(caller, ids)
        destination = await owned_destination(self._cluster, project, ids["destinationId"])
        note = caller.note(message, self._limits.request_metadata_bytes)
        async with self._secrets_of(caller, destination.name) as secrets:
            change = functools.partial(secrets.updated_spec, message)
            before, after = await self._writer.update(destination, change, note)
            secrets.keep(after.spec)
        changed = any(not same(before.spec.get(name), after.spec.get(name)) for name in PLAN_INPUT)
        sent = bool(before.spec.get("enabled") or after.spec.get("enabled"))
        return {
            "destination": await self._record(caller, ids, after),
            "broadcastUpdated": changed and sent and on_air(project),
        }

    async def delete(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await self._project(caller, ids)
        entry = await owned_destination(self._cluster, project, ids["destinationId"])
        enabled = False

        def permit(version: Entry) -> None:
            nonlocal enabled
            enabled = bool(version.spec.get("enabled"))
            if enabled and not message["force"]:
                raise FailedPrecondition(
                    "the destination is enabled: disable it first, or delete with force=true"
                )

        await self._writer.delete(entry, caller.note(), permit)
        return {"broadcastUpdated": enabled and on_air(project)}

    async def _project(self, caller: Caller, ids: Ids) -> Entry:
        return await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])

    def _secrets_of(self, caller: Caller, destination_id: str) -> SecretVersions:
        sees_secrets = caller.identity.sees_secrets
        limit = self._limits.metadata_bytes
        return SecretVersions(self._credentials, destination_id, limit, sees_secrets=sees_secrets)

    async def _record(self, caller: Caller, ids: Ids, entry: Entry) -> JsonObject:
        secrets = caller.identity.sees_secrets
        return await destination_record(entry, ids["collectionId"], self._credentials, secrets=secrets)
