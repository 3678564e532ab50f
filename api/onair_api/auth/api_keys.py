"""API keys of backends: Secrets of the namespace of keys that hold a hash, never the key."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hashlib
from collections import OrderedDict
from dataclasses import dataclass

import structlog

from onair_api.auth.identity import ALL_SCOPES, ApiKeyRef
from onair_api.cache.cluster import NAME, Cluster
from onair_api.cache.watched_kinds import API_KEY
from onair_api.errors import Unauthenticated
from onair_crds.kube.store import Entry

log = structlog.get_logger()

LOADED = "api key"
"""Of an entry's records."""
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
        self._by_hash: dict[str, Backend] = {}
        self._changed = False
        view.on_change(API_KEY, self._note_change)

    def backend_of(self, key: str | None) -> Backend:
        """Returns the backend that an API key belongs to.

        Raises:
            Unauthenticated: no key was given, or an unknown one.
        """
        if not key:
            raise Unauthenticated("an API key is required: X-API-Key: <API_KEY>")
        self._refresh()
        # How long this takes tells of the hash alone, from which no key can be found
        found = self._by_hash.get(hashlib.sha256(key.encode(errors="replace")).hexdigest())
        if found is None:
            raise Unauthenticated("the API key is not valid")
        return found

    def is_deleted(self, key: ApiKeyRef) -> bool:
        """Whether this replica knows that a key was deleted: at most one watch delay after it was."""
        self._refresh()
        return key in self._deleted

    async def check(self, key: ApiKeyRef) -> bool:
        """Whether a key is there. One that is unknown here may have been added a moment ago.

        Raises:
            ApiError: the API server had to be asked and did not respond.
        """
        self._refresh()
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

    def _note_change(self) -> None:
        if self._changed:
            return
        self._changed = True
        # Before the next change that comes by itself, so that a key that was there for a moment is remembered
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop().call_soon(self._refresh)

    def _refresh(self) -> None:
        """Looks at the keys once for all changes that come together: a list of thousands is as many."""
        if not self._changed:
            return
        self._changed = False
        entries = [entry for entry in self._view.all(API_KEY) if not entry.deleting]
        present = frozenset(ApiKeyRef(entry.name, entry.uid) for entry in entries)
        for gone in self._present - present:
            self._forget(gone)
        self._present = present
        self._by_hash = dict(pair for pair in map(_loaded, entries) if pair)


def _loaded(entry: Entry) -> tuple[str, Backend] | None:
    """The hash of a key and its backend, from this version's records or for them; None if it is unusable."""
    if LOADED not in entry.records:
        entry.records[LOADED] = _load(entry)
        if entry.records[LOADED] is None:
            log.warning("api_key.unusable", secret=entry.name)
    found: tuple[str, Backend] | None = entry.records[LOADED]
    return found


def _load(entry: Entry) -> tuple[str, Backend] | None:
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
    return digest, Backend(service_id, wanted, ApiKeyRef(entry.name, entry.uid))
