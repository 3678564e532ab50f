"""API keys of backends: Secrets of the release namespace that hold a hash, never the key."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass

import structlog

from onair_api.auth.identity import ALL_SCOPES
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import API_KEY
from onair_api.errors import Unauthenticated
from onair_crds.kube.store import Entry

log = structlog.get_logger()


@dataclass(frozen=True)
class Backend:
    """The service that an API key belongs to, and the scopes that it may hand on."""

    service_id: str
    scopes: tuple[str, ...]


class ApiKeys:
    def __init__(self, view: View) -> None:
        self._view = view
        self._by_hash: list[tuple[bytes, Backend]] = []
        view.on_change(API_KEY, self._reload)

    def backend_of(self, key: str | None) -> Backend:
        """
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

    def _reload(self) -> None:
        loaded = [(entry, _load(entry)) for entry in self._view.all(API_KEY) if not entry.deleting]
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
    return digest.encode(), Backend(service_id, wanted)
