"""What one service and one user may have and put on air at a time, counted from the watches.

A create is counted from its request on, so that those of one replica never exceed a quota together. Replicas
hear of each other's by their watches: together they may exceed one by what is created within that delay.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import orjson

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
from onair_crds.contract.labels import GUEST_CODE_LABEL, SERVICE_ANNOTATION
from onair_crds.contract.quotas import BROADCASTS, PIXELS, SERVICE, USER, pixels_per_s, quota_text
from onair_crds.kube.store import Change, Entry
from onair_crds.shapes import Document, JsonObject

QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure"
RETRY_AFTER_S = 60
LARGEST_OBJECT = 1_572_864
"""Bytes that the API server stores of one object."""

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
BACKENDS_SHARE = 2
"""With its API key a service may revoke as many tokens again as those revoke themselves: a stolen one cannot
use up what it takes to end it."""


class QuotaExceeded(ResourceExhausted):
    """Names the quota, its limit, and what is there."""

    def __init__(self, scope: str, name: str, limit: int, present: int) -> None:
        text = quota_text(scope, name, limit, present)
        super().__init__(text, retry_after_s=RETRY_AFTER_S)
        self._violation = {"subject": scope, "description": text}

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
        self._tally = Tally()
        self._pending: Counter[tuple[Node, str]] = Counter()
        view.follow(self._changed)

    @property
    def idle(self) -> bool:
        """Whether nothing is counted."""
        return not self._tally and not self._pending

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
        more = {METADATA: metadata_bytes(spec) - metadata_bytes(before.spec)}
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
                limit = int(getattr(self._limits[scope[0]], name)) * share
                present = self._tally.total(scope, name) + self._pending[scope, name]
                if limit and present + amount > limit:
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
        """The user and the service that an object is of; a user who has nothing yet is of a service, too."""
        if node[0] == SERVICE:
            return [node]
        user = next((each for each in self._tally.lineage(node) if each[0] == USER), None)
        return [user, (SERVICE, user[1])] if user else []

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

    def _amounts(self, entry: Entry) -> Amounts:
        """What one object counts; one that is being deleted only what it has on air."""
        amounts: dict[str, int] = {}
        if not entry.deleting:
            amounts[COUNTED[entry.kind]] = 1
            if size := metadata_bytes(entry.spec):
                amounts[METADATA] = size
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


def metadata_bytes(spec: JsonObject) -> int:
    """Bytes of an object's metadata as JSON; 0 where it has none."""
    metadata = spec.get("metadata")
    if metadata in (None, {}):
        return 0
    try:
        return len(orjson.dumps(metadata))
    except orjson.JSONEncodeError:  # integers of more than 64 bits
        try:
            return len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode())
        except RecursionError:  # written by kubectl, and nobody can say how large
            return LARGEST_OBJECT
