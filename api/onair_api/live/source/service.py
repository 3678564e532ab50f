"""Live sources of a collection: create, list, read, update, delete."""

from __future__ import annotations

from collections.abc import Iterable

from onair_api.access.ownership import owned_collection, source_of
from onair_api.auth.callers import Caller
from onair_api.auth.identity import SCOPE_CREATE
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import PROJECT, SHOWN, SOURCE
from onair_api.errors import FailedPrecondition, InvalidArgument, NotFound, PermissionDenied, Violation
from onair_api.live.broadcast.service import on_air
from onair_api.live.source.record import SOURCE_MESSAGE, SourceRecords
from onair_api.live.source.replaced_key import without_key
from onair_api.live.source.stream_keys import StreamKeys, is_pushed
from onair_api.operation import Ids
from onair_api.settings import LimitSettings
from onair_api.wire.list_page import page_of
from onair_api.wire.spec import created_spec, updated_spec
from onair_api.writes.credential_secrets import was_refused
from onair_api.writes.identifiers import new_id
from onair_api.writes.json_patch import same
from onair_api.writes.record_size import record_bytes
from onair_api.writes.removal import remove_all
from onair_api.writes.request_note import RequestNote
from onair_api.writes.writer import SpecChange, Writer
from onair_crds.kube.store import Entry
from onair_crds.resources.source import SourceSpec
from onair_crds.runtime.steps import in_steps
from onair_crds.shapes import JsonObject

IN_USE = "the source is in use in a running broadcast: stop that first, or delete with force=true"
PREFIX = "source-"
"""Of the ids of sources, by which clients distinguish previews in a room from people."""


class Sources:
    def __init__(
        self,
        cluster: Cluster,
        writer: Writer,
        keys: StreamKeys,
        records: SourceRecords,
        limits: LimitSettings,
    ) -> None:
        self._cluster = cluster
        self._writer = writer
        self._keys = keys
        self._records = records
        self._limits = limits

    async def list_sources(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """The sources of a collection, oldest first."""
        collection = await owned_collection(self._cluster, caller.identity, ids["collectionId"])
        entries = self._cluster.view.children(SOURCE, collection.name)
        page = page_of(entries, message, lambda entry: entry.created, size=record_bytes)
        found = [await self._record(caller, entry) async for entry in in_steps(page.items)]
        return {"sources": found, **page.field}

    async def create(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """A pushed source gets its key before it is there, so none is ever without."""
        collection = await owned_collection(self._cluster, caller.identity, ids["collectionId"])
        if SCOPE_CREATE not in caller.identity.scopes:
            raise PermissionDenied(f"the scope {SCOPE_CREATE} is required to create a source")
        note = caller.note(message, self._limits.request_metadata_bytes)
        limit = self._limits.metadata_bytes
        spec = created_spec(SourceSpec, SOURCE_MESSAGE, message, limit, collectionId=collection.name)
        name = f"{PREFIX}{new_id()}"
        if is_pushed(spec):
            await self._keys.assign(name)
        try:
            entry = await self._writer.create(SOURCE, spec, note, owner=collection, name=name)
        except Exception as error:
            if was_refused(error):
                await self._keys.discard([name])
            raise
        return {"source": await self._record(caller, entry)}

    async def get(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        return {"source": await self._record(caller, await self._owned(caller, ids))}

    async def update(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Also has the stream key replaced, where the mask names it."""
        source = await self._owned(caller, ids)
        note = caller.note(message, self._limits.request_metadata_bytes)
        message, replaced = without_key(message)

        async def change(entry: Entry) -> JsonObject:
            limit = self._limits.metadata_bytes
            spec = updated_spec(SourceSpec, SOURCE_MESSAGE, entry.spec, message, limit)
            if replaced and replaced not in spec["address"]:
                raise InvalidArgument(Violation("updateMask", f"the source is not of the kind {replaced}"))
            if is_pushed(spec):
                await self._keys.assign(entry.name)
            return spec

        before, after = await self._writer.update(source, change, note)
        if replaced:
            await self._keys.replace(after.name)
        changed = not same(_input(before), _input(after))
        return {
            "source": await self._record(caller, after),
            "broadcastUpdated": changed and any(map(on_air, self._projects_with(after))),
        }

    async def delete(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Takes it out of its projects first, so that a failure in between can be retried."""
        source = await self._owned(caller, ids)
        projects = self._projects_with(source)
        if not message["force"] and any(map(on_air, projects)):
            raise FailedPrecondition(IN_USE)
        note = caller.note()
        updated = []
        for project in projects:
            try:
                await self._writer.update(project, _without(source.name, force=message["force"]), note)
            except NotFound:
                continue
            updated.append(project.name)
        await self._writer.delete(source, note)
        await self._keys.discard([source.name])
        return {"projectIdsUpdated": updated}

    async def remove(self, sources: Iterable[Entry], note: RequestNote) -> None:
        """Deletes sources whose projects are gone, with their keys."""
        entries = list(sources)
        await remove_all(self._writer, entries, note)
        await self._keys.discard(entry.name for entry in entries if is_pushed(entry.spec))

    def _projects_with(self, source: Entry) -> list[Entry]:
        collection_id = str(source.spec.get("collectionId"))
        return self._cluster.view.found(PROJECT, SHOWN, collection_id, source.name)

    async def _owned(self, caller: Caller, ids: Ids) -> Entry:
        await owned_collection(self._cluster, caller.identity, ids["collectionId"])
        return await source_of(self._cluster, ids["collectionId"], ids["sourceId"])

    async def _record(self, caller: Caller, entry: Entry) -> JsonObject:
        return await self._records.record(entry, secrets=caller.identity.sees_secrets)


def _without(source_id: str, *, force: bool) -> SpecChange:
    async def change(entry: Entry) -> JsonObject:
        changed = without_source(entry.spec, source_id)
        if on_air(entry) and not force and changed["sources"] != entry.spec.get("sources"):
            raise FailedPrecondition(IN_USE)
        return changed

    return change


def _input(source: Entry) -> JsonObject:
    """What projects can get of a source: nothing of one that is disabled; enabled is the default."""
    address: JsonObject = source.spec.get("address") or {}
    return {
        kind: {name: value for name, value in part.items() if name != "enabled"}
        for kind, part in address.items()
        if part.get("enabled") is not False
    }


def without_source(spec: JsonObject, source_id: str) -> JsonObject:
    """A project's spec without one of its sources."""
    kept = [each for each in spec.get("sources") or [] if each["sourceId"] != source_id]
    return {**spec, "sources": kept}
