"""API keys of backends: Secrets of the namespace of keys that hold a hash, never the key."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections import OrderedDict
from dataclasses import dataclass

import structlog

from onair_api.auth.identity import ALL_SCOPES, ApiKeyRef
from onair_api.cache.cluster import NAME, Cluster
from onair_api.cache.watched_kinds import API_KEY
from onair_api.errors import Unauthenticated
from onair_crds.kube.store import Entry

log = structlog.get_logger()

MAX_DELETED = 10_000
"""Deleted keys that are remembered, as nobody is asked about those again; a uid never comes back."""


@dataclass(frozen=True)
class Backend:
    """The service that an API key belongs to, and the scopes that it may hand on."""

    service_id: str
    scopes: tuple[str, ...]
    key: ApiKeyRef | None = None


class ApiKeys:
    """The API keys that are there, found by their hash."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._view = view = cluster.view
        self._present: frozenset[ApiKeyRef] = frozenset()
        self._deleted: OrderedDict[ApiKeyRef, None] = OrderedDict()
        self._by_hash: list[tuple[bytes, Backend]] = []
        view.on_change(API_KEY, self._reload)

    def backend_of(self, key: str | None) -> Backend:
        """Returns the backend that an API key belongs to.

        Raises:
            Unauthenticated: no key was given, or an unknown one.
        """
        if not key:
            raise Unauthenticated("an API key is required: X-API-Key: <API_KEY>")
        digest = hashlib.sha256(key.encode(errors="replace")).hexdigest().encode()
        found = None
        for known, backend in self._by_hash:  # all of them: the time taken must not depend on the key
            if hmac.compare_digest(known, digest):
                found = backend
        if found is None:
            raise Unauthenticated("the API key is not valid")
        return found

    def is_deleted(self, key: ApiKeyRef) -> bool:
        """Whether this replica knows that a key was deleted: at most one watch delay after it was."""
        return key in self._deleted

    async def check(self, key: ApiKeyRef) -> bool:
        """Whether a key is there. One that is unknown here may have been added a moment ago.

        Raises:
            ApiError: the API server had to be asked and did not respond.
        """
        if key in self._present:
            return True
        if key in self._deleted or not NAME.fullmatch(key.secret):
            return False
        entry = await self._cluster.fetch(API_KEY, key.secret)
        if entry and entry.uid == key.uid:
            return True
        self._forget(key)
        return False

    def _forget(self, key: ApiKeyRef) -> None:
        self._deleted[key] = None
        if len(self._deleted) > MAX_DELETED:
            self._deleted.popitem(last=False)

    def _reload(self) -> None:
        entries = [entry for entry in self._view.all(API_KEY) if not entry.deleting]
        present = frozenset(ApiKeyRef(entry.name, entry.uid) for entry in entries)
        for gone in self._present - present:
            self._forget(gone)
        self._present = present
        loaded = [(entry, _load(entry)) for entry in entries]
        for entry, pair in loaded:
            if pair is None:
                log.warning("api_key.unusable", secret=entry.name)
        self._by_hash = [pair for _, pair in loaded if pair]


def _load(entry: Entry) -> tuple[bytes, Backend] | None:
    data = entry.document.get("data") or {}
    try:
        service_id = base64.b64decode(data["serviceId"]).decode().strip()
        digest = base64.b64decode(data["hash"]).decode("ascii").strip().lower()
        scopes = base64.b64decode(data["scopes"]).decode() if "scopes" in data else None
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
    if not service_id or len(digest) != 64:
        return None
    wanted = ALL_SCOPES if scopes is None else tuple(s for s in ALL_SCOPES if s in scopes.split(","))
    return digest.encode(), Backend(service_id, wanted, ApiKeyRef(entry.name, entry.uid))
