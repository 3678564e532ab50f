"""What one service and one user may have and put on air at a time, counted from the watches.

A create is counted from its request on, so that those of one replica never exceed a quota together. Replicas
hear of each other's by their watches: together they may exceed one by what is created within that delay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onair_api.cache.tally import Amounts, Node, Tally
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import (
    COLLECTION,
    DESTINATION,
    GUEST_CODE,
    LAYOUT,
    PROJECT,
    REVOKED_TOKEN,
    SOURCE,
)
from onair_api.errors import ResourceExhausted
from onair_api.settings import QuotaSettings
from onair_api.writes.record_size import (
    SHOWN_WITH_COLLECTION,
    SourceUses,
    document_bytes,
    layout_bytes,
    layout_spec_bytes,
    memory_bytes,
    record_bytes,
    source_ids,
)
from onair_crds.contract.labels import GUEST_CODE_LABEL, SERVICE_ANNOTATION
from onair_crds.contract.quotas import BROADCASTS, PIXELS, SERVICE, USER, pixels_per_s, quota_text
from onair_crds.kube.store import Change, Entry
from onair_crds.shapes import Document, JsonObject

QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure"
RETRY_AFTER_S = 60
MAX_COLLECTION_BYTES = 67_108_864
"""Of a collection's record, which is read as a whole; the default quotas alone allow no more but by sources
that are in many projects."""

COUNTED = {
    COLLECTION: "collections",
    PROJECT: "projects",
    DESTINATION: "destinations",
    SOURCE: "sources",
    LAYOUT: "layouts",
    GUEST_CODE: "guest_codes",
    REVOKED_TOKEN: "revoked_tokens",
}
METADATA = "metadata_bytes"
LAYOUTS = "layout_bytes"
"""Of the whole specs of layouts: their layers may hold anything."""
RECORDS = "record_bytes"
"""Of what a collection shows; that of a source again for each project that has it."""
BACKENDS_SHARE = 2
"""With its API key a service may revoke as many tokens again as those revoke themselves: a stolen one cannot
use up what it takes to end it."""
_METADATA_BYTES = "metadata bytes"


class QuotaExceeded(ResourceExhausted):
    """Names the quota, its limit, and what is there."""

    def __init__(self, scope: str, name: str, limit: int, present: int) -> None:
        text = collection_text(limit, present) if name == RECORDS else quota_text(scope, name, limit, present)
        super().__init__(text, retry_after_s=RETRY_AFTER_S)
        self._violation = {"subject": scope.lower(), "description": text}

    @property
    def details(self) -> list[JsonObject]:
        return [{"@type": QUOTA_FAILURE, "violations": [self._violation]}]


class Quotas:
    """Counts what tenants have, and refuses what exceeds their quotas."""

    def __init__(
        self, view: View, settings: QuotaSettings, on_air: Callable[[JsonObject, JsonObject], bool]
    ) -> None:
        """
        Args:
            view: what is there; to be followed before it is filled.
            on_air: whether a project's broadcast runs, or is wanted to, by its spec and status.
        """
        self._limits = {SERVICE: settings.per_service, USER: settings.per_user}
        self._on_air = on_air
        self._view = view
        self._tally = Tally()
        self._uses = SourceUses()
        self._pending: Counter[tuple[Node, str]] = Counter()
        view.follow(self._changed)

    @property
    def idle(self) -> bool:
        """Whether nothing is counted."""
        return not self._tally and not self._pending and not self._uses

    def collection_bytes(self, collection: Entry) -> int:
        """About what the record of a collection takes, with all that it shows."""
        return self._tally.total((COLLECTION, collection.name), RECORDS)

    @contextmanager
    def creating(self, kind: str, document: Document) -> Iterator[None]:
        """While an object is created.

        Raises:
            QuotaExceeded: with it there would be too many.
        """
        if kind not in COUNTED:
            yield
            return
        more = {COUNTED[kind]: 1, METADATA: metadata_bytes(document.get("spec") or {})}
        if kind == LAYOUT:
            more[LAYOUTS] = layout_spec_bytes(document.get("spec") or {})
        if kind in SHOWN_WITH_COLLECTION:
            more[RECORDS] = document_bytes(document)
        with self._reserved(_parent(kind, document), more):
            yield

    @contextmanager
    def revoking(self, service_id: str, *, by_backend: bool = False) -> Iterator[None]:
        """While a token of a service is revoked.

        Args:
            by_backend: with the service's API key.

        Raises:
            QuotaExceeded: too many are.
        """
        more = {COUNTED[REVOKED_TOKEN]: 1}
        with self._reserved((SERVICE, service_id), more, BACKENDS_SHARE if by_backend else 1):
            yield

    @contextmanager
    def changing(self, before: Entry, spec: JsonObject) -> Iterator[None]:
        """While a spec replaces another; that starts a broadcast where only the new one wants it.

        Raises:
            QuotaExceeded: with it there would be too much.
        """
        if before.kind not in COUNTED:
            yield
            return
        more = {METADATA: metadata_bytes(spec) - stored_metadata_bytes(before)}
        if before.kind == LAYOUT:
            more[LAYOUTS] = layout_spec_bytes(spec) - layout_bytes(before)
        if before.kind in SHOWN_WITH_COLLECTION:
            more[RECORDS] = self._record_growth(before, spec)
        if before.kind == PROJECT:
            former, wanted = (self._run(each, before.status) for each in (before.spec, spec))
            more |= {name: wanted.get(name, 0) - former.get(name, 0) for name in (BROADCASTS, PIXELS)}
        with self._reserved((before.kind, before.name), more):
            yield

    @contextmanager
    def _reserved(self, node: Node, more: Amounts, share: int = 1) -> Iterator[None]:
        grown = {name: amount for name, amount in more.items() if amount > 0}
        scopes = self._scopes(node) if grown else []
        for scope in scopes:
            for name, amount in grown.items():
                limit = self._limit(scope, name)
                present = self._tally.total(scope, name) + self._pending[scope, name]
                if limit and present + amount > limit * share:
                    raise QuotaExceeded(scope[0], name, limit, present)
        reserved = [((scope, name), amount) for scope in scopes for name, amount in grown.items()]
        for key, amount in reserved:
            self._pending[key] += amount
        try:
            yield
        finally:
            for key, amount in reserved:
                self._pending[key] -= amount
                if not self._pending[key]:
                    del self._pending[key]

    def _scopes(self, node: Node) -> list[Node]:
        """The user, service and collection that an object is of; a new user is of a service, too."""
        if node[0] == SERVICE:
            return [node]
        lineage = list(self._tally.lineage(node))
        user = next((each for each in lineage if each[0] == USER), None)
        return [user, (SERVICE, user[1]), *(e for e in lineage if e[0] == COLLECTION)] if user else []

    def _limit(self, scope: Node, name: str) -> int:
        """How much of something there may be; 0 is without a limit."""
        if scope[0] == COLLECTION:
            return MAX_COLLECTION_BYTES if name == RECORDS else 0
        return 0 if name == RECORDS else int(getattr(self._limits[scope[0]], name))

    def _record_growth(self, before: Entry, spec: JsonObject) -> int:
        """What a collection's record takes more where a spec replaces another."""
        grown = document_bytes({"spec": spec}) - record_bytes(before)
        if before.kind == SOURCE:
            return grown * (1 + self._uses.of(before))
        if before.kind == PROJECT:
            former, wanted = set(source_ids(before.spec)), set(source_ids(spec))
            for sign, names in ((1, wanted - former), (-1, former - wanted)):
                sources = (self._view.get(SOURCE, name) for name in names)
                grown += sign * sum(record_bytes(source) for source in sources if source)
        return grown

    def _changed(self, change: Change) -> None:
        if change.entry.kind not in COUNTED:
            return
        if gone := change.gone:
            self._tally.remove((gone.kind, gone.name))
            if gone.kind == COLLECTION:
                self._tally.remove_childless(_parent(gone.kind, gone.document))
        if entry := change.after:
            parent = _parent(entry.kind, entry.document)
            if entry.kind == COLLECTION:
                self._tally.put(parent, (SERVICE, parent[1]), {})
            self._tally.put((entry.kind, entry.name), parent, self._amounts(entry))
        if change.entry.kind == PROJECT:
            for name in self._uses.follow(change):
                if source := self._view.entry(SOURCE, name):
                    parent = _parent(SOURCE, source.document)
                    self._tally.put((SOURCE, name), parent, self._amounts(source))

    def _amounts(self, entry: Entry) -> Amounts:
        """What one object counts; one that is being deleted only what it has on air."""
        amounts: dict[str, int] = {}
        if not entry.deleting:
            amounts[COUNTED[entry.kind]] = 1
            if size := stored_metadata_bytes(entry):
                amounts[METADATA] = size
            if entry.kind == LAYOUT:
                amounts[LAYOUTS] = layout_bytes(entry)
            if entry.kind in SHOWN_WITH_COLLECTION:
                shown = 1 + (self._uses.of(entry) if entry.kind == SOURCE else 0)
                amounts[RECORDS] = record_bytes(entry) * shown
        return amounts | (self._run(entry.spec, entry.status) if entry.kind == PROJECT else {})

    def _run(self, spec: JsonObject, status: JsonObject) -> dict[str, int]:
        """What a project has on air."""
        return {BROADCASTS: 1, PIXELS: pixels_per_s(spec)} if self._on_air(spec, status) else {}


def _parent(kind: str, document: Document) -> Node:
    """The node above an object."""
    spec = document.get("spec") or {}
    if kind == COLLECTION:
        owner = spec.get("owner") or {}
        return USER, str(owner.get("serviceId")), str(owner.get("serviceUserId"))
    if kind == REVOKED_TOKEN:
        return SERVICE, str((document["metadata"].get("annotations") or {}).get(SERVICE_ANNOTATION))
    if kind == GUEST_CODE:
        return PROJECT, str((document["metadata"].get("labels") or {}).get(GUEST_CODE_LABEL))
    if kind in (DESTINATION, LAYOUT):
        return PROJECT, str(spec.get("projectId"))
    return COLLECTION, str(spec.get("collectionId"))


def collection_text(limit: int, present: int) -> str:
    """Says that the record of a collection would be too large."""
    return (
        f"the record of a collection may take {limit} bytes, where each project repeats its sources with "
        f"their metadata, of which {present} are in use"
    )


def stored_metadata_bytes(entry: Entry) -> int:
    """About what an object's metadata takes in memory."""
    size: int | None = entry.records.get(_METADATA_BYTES)
    if size is None:
        size = entry.records[_METADATA_BYTES] = metadata_bytes(entry.spec)
    return size


def metadata_bytes(spec: JsonObject) -> int:
    """About what an object's metadata takes in memory; 0 where it has none."""
    metadata = spec.get("metadata")
    return 0 if metadata in (None, {}) else memory_bytes(metadata)
