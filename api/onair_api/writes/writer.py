"""Writes of resources: every change is a compare-and-swap, retried on the newest version."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Iterator

import structlog

from onair_api.cache.cluster import Cluster
from onair_api.errors import Aborted, FailedPrecondition, NotFound, RpcError
from onair_api.metrics import WRITE_CONFLICTS
from onair_api.writes.identifiers import new_id
from onair_api.writes.json_patch import annotation_changes, compare_and_swap, spec_changes
from onair_api.writes.outside_urls import check_urls
from onair_api.writes.quota_enforcement import Quotas
from onair_api.writes.request_note import CreationClock, RequestNote
from onair_crds.backoff import backoff_s
from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.contract.owners import owner_reference
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry
from onair_crds.resources.base import API_VERSION
from onair_crds.runtime.keyed_locks import KeyedLocks
from onair_crds.runtime.steps import done
from onair_crds.shapes import Document, JsonObject, JsonPatch

log = structlog.get_logger()

CONFLICT_TIMEOUT_S = 10.0
"""For an update whose version others change each time: who reads and writes slower than they do loses most
attempts, so what counts is that there are many."""
PAUSE_S = 0.01
LONGEST_PAUSE_S = 0.1

SpecChange = Callable[[Entry], Awaitable[JsonObject]]
"""Works out the wanted spec from a version of the object; called again on a newer one after a conflict."""

Note = RequestNote | Callable[[], RequestNote]
"""The request's note, or what gives it after `SpecChange` has run, on which it may depend."""

Permit = Callable[[Entry], None]


def _pauses() -> Iterator[float | None]:
    """Before each attempt, until the timeout. None is before the first; the second comes at once."""
    deadline = time.monotonic() + CONFLICT_TIMEOUT_S
    yield None
    longest_s = 0.0
    for failures in itertools.count():
        yield random.uniform(0, longest_s)  # noqa: S311 - spreads load
        longest_s = backoff_s(failures, PAUSE_S, LONGEST_PAUSE_S)
        if time.monotonic() > deadline:
            return


class Writer:
    def __init__(self, cluster: Cluster, inside: InsideRules, quotas: Quotas) -> None:
        """
        Args:
            inside: which urls lead inside, and are refused.
        """
        self._quotas = quotas
        self._cluster = cluster
        self._inside = inside
        self._clock = CreationClock()
        self._locks: KeyedLocks[tuple[str, str]] = KeyedLocks()
        """Writers of one object in this process take turns, so only other processes cause conflicts."""

    async def create(
        self,
        kind: str,
        spec: JsonObject,
        note: RequestNote,
        *,
        owner: Entry | None = None,
        name: str | None = None,
    ) -> Entry:
        """Creates an object, under a new id if none is given.

        Raises:
            InvalidArgument: a url of it leads inside.
            QuotaExceeded: there are too many.
            ApiError: the API server refused it or did not respond.
        """
        check_urls(kind, spec, {}, self._inside)
        metadata: Document = {
            "name": name or new_id(),
            "annotations": {**note.annotations(), **self._clock.annotations(dt.datetime.now(dt.UTC))},
        }
        if owner:
            metadata["ownerReferences"] = [owner_reference(owner.kind, owner.name, owner.uid)]
        document = {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
        cluster = self._cluster
        with self._quotas.creating(kind, document):
            created = await cluster.client.create(cluster.api(kind), cluster.namespace(kind), document)
            entry = cluster.view.put(kind, created)
        log.info("resource.created", kind=kind, name=metadata["name"])
        if entry is None:
            raise NotFound(f"{kind} {metadata['name']} was deleted in the meantime")
        return entry

    async def update(self, entry: Entry, change: SpecChange, note: Note) -> tuple[Entry, Entry]:
        """Changes an object's spec; gives the versions before and after, the same one if nothing changed.

        That nothing is to change is decided on the API server's version, never on the view's: another
        replica may have written what the watch has yet to bring.

        Args:
            entry: some version of the object. A later object of its name may be somebody else's.

        Raises:
            InvalidArgument: a url that the change brings leads inside.
            QuotaExceeded: it takes too much.
            NotFound: it is gone, or another took its name.
            Aborted: others changed it each time, for `CONFLICT_TIMEOUT_S`.
            ApiError: the API server refused the change or did not respond.
        """
        kind, name = entry.kind, entry.name
        async with self._locks.of((kind, name)):
            known = self._cluster.view.get(kind, name)
            before = known if known and known.uid == entry.uid else await self._newest(entry)
            for pause_s in _pauses():
                if pause_s is not None:
                    await asyncio.sleep(pause_s)
                    before = await self._newest(before)
                before, wanted, operations = await self._difference(before, change)
                if not operations:
                    return before, before
                latest = note if isinstance(note, RequestNote) else note()
                operations += annotation_changes(before.document, latest.annotations())
                with self._quotas.changing(before, wanted):
                    after = await self._try(before, operations)
                if after:
                    log.info("resource.updated", kind=kind, name=name)
                    return before, after
                WRITE_CONFLICTS.labels(kind).inc()
        raise Aborted(
            f"{kind} {name} was changed by others each time for {CONFLICT_TIMEOUT_S:g} s; try again"
        )

    async def _difference(self, before: Entry, change: SpecChange) -> tuple[Entry, JsonObject, JsonPatch]:
        """What the change makes of a version: of the API server's own where that is nothing, or refused.

        A version of the view may be old, and then a compare-and-swap fails; without one nothing would.
        """
        refusal: RpcError | None = None
        try:
            wanted = await self._changed(before, change)
            if operations := await done(spec_changes(before.spec, wanted)):
                return before, wanted, operations
        except (FailedPrecondition, NotFound) as error:
            refusal = error
        newest = await self._newest(before)
        if newest is before and refusal:
            raise refusal
        wanted = await self._changed(newest, change)
        return newest, wanted, await done(spec_changes(newest.spec, wanted))

    async def _changed(self, before: Entry, change: SpecChange) -> JsonObject:
        spec = await change(before)
        check_urls(before.kind, spec, before.spec, self._inside)
        return spec

    async def delete(self, entry: Entry, note: RequestNote, permit: Permit | None = None) -> bool:
        """Deletes an object; False if it stays until somebody's finalizer is done.

        Args:
            permit: raises where this version must not be deleted; asked again about a newer one, so nothing
                is deleted for reasons that do not hold any more.

        Raises:
            NotFound: it is gone, or another took its name.
            Aborted: others changed it each time, for `CONFLICT_TIMEOUT_S`.
        """
        async with self._locks.of((entry.kind, entry.name)):
            for pause_s in _pauses():
                if pause_s is not None:
                    await asyncio.sleep(pause_s)
                    entry = await self._newest(entry)
                if permit:
                    permit(entry)
                gone = await self._delete(entry, note)
                if gone is not None:
                    log.info("resource.deleted", kind=entry.kind, name=entry.name, finished=gone)
                    return gone
        raise Aborted(f"{entry.kind} {entry.name} was changed by others at the same time; try again")

    async def _delete(self, entry: Entry, note: RequestNote) -> bool | None:
        """Deletes this version: gone, going, or (None) not at this version any more."""
        cluster, kind, name = self._cluster, entry.kind, entry.name
        annotated = await self._try(entry, annotation_changes(entry.document, note.annotations()))
        if annotated is None:
            return None
        try:
            response = await cluster.client.delete(
                cluster.api(kind),
                cluster.namespace(kind),
                name,
                uid=annotated.uid,
                resource_version=str(annotated.version),
            )
        except ApiError as error:
            if error.status == 409:
                return None
            if not error.not_found:
                raise
            response = {}
        if response.get("kind") == kind:
            cluster.view.put(kind, response)
            return False
        cluster.view.remove(kind, name, entry.uid)
        return True

    async def _try(self, entry: Entry, operations: list[Document]) -> Entry | None:
        """One compare-and-swap; None when the object is not at this version any more."""
        cluster, kind, name = self._cluster, entry.kind, entry.name
        try:
            document = await cluster.client.json_patch(
                cluster.api(kind),
                cluster.namespace(kind),
                name,
                compare_and_swap(entry.document, operations),
            )
        except ApiError as error:
            if error.not_found:
                cluster.view.remove(kind, name, entry.uid)
                raise NotFound(f"{kind} {name} does not exist") from error
            if error.conflict or await self._outdated(entry, error):
                return None
            raise
        newest = cluster.view.put(kind, document)
        if newest is None or newest.uid != entry.uid:
            raise NotFound(f"{kind} {name} does not exist")
        # What this write made of it: the watch may have brought a later version already
        own = Entry(kind, document)
        return newest if newest.version == own.version else own

    async def _outdated(self, entry: Entry, error: ApiError) -> bool:
        """Whether a patch was refused as invalid because it was meant for an older version.

        The API server applies the operations first and compares the version after.
        """
        if error.status != 422 or error.causes:
            return False
        newest = await self._cluster.fetch(entry.kind, entry.name)
        return newest is None or newest.version != entry.version

    async def _newest(self, entry: Entry) -> Entry:
        """The API server's version of exactly this object."""
        newest = await self._cluster.fetch(entry.kind, entry.name)
        if newest is None or newest.uid != entry.uid:
            raise NotFound(f"{entry.kind} {entry.name} does not exist")
        return newest
