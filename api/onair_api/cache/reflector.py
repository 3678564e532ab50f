"""Keeps one kind of the view like the API server's: list, watch, and again when a watch ends or breaks."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Protocol

import structlog

from onair_api.cache.kinds import Watched
from onair_api.cache.view import View
from onair_api.metrics import WATCH_EVENTS, WATCH_RESTARTS
from onair_api.settings import CacheSettings
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document

log = structlog.get_logger()

GONE = 410
SHORTEST_WATCH_S = 0.5


class Listener(Protocol):
    """Hears what the API server says, and nothing of this replica's own writes."""

    def listed(self, kind: str, documents: list[Document], version: int) -> None:
        """All objects of a kind at a resourceVersion: at first, and when a watch could not go on."""

    def changed(self, kind: str, document: Document, *, deleted: bool) -> None:
        """One object as a watch told of it."""


class Reflector:
    """One list and watch. `run` never returns; `synced` and `age_s` say what it is worth."""

    def __init__(
        self, client: KubeClient, view: View, watched: Watched, namespace: str, settings: CacheSettings
    ) -> None:
        self.listener: Listener | None = None
        self.kind = watched.kind
        self.synced = asyncio.Event()
        self._client = client
        self._view = view
        self._watched = watched
        self._namespace = namespace
        self._settings = settings
        self._version: str | None = None
        self._failures = 0
        self._connected = False
        self._last_contact = time.monotonic()

    @property
    def age_s(self) -> float:
        """Seconds since the view was known to follow the API server; 0 while a watch is open."""
        return 0.0 if self._connected else time.monotonic() - self._last_contact

    async def run(self) -> None:
        while True:
            try:
                if self._version is None:
                    await self._list()
                await self._watch(self._version or "")
            except (ApiError, ValueError) as error:
                await self._recover(error)

    async def _list(self) -> None:
        listed = await self._client.list(self._watched.api, self._namespace, **self._watched.query)
        version = str(listed["metadata"]["resourceVersion"])
        self._view.replace_all(self.kind, listed["items"], int(version))
        if self.listener:
            self.listener.listed(self.kind, listed["items"], int(version))
        self._version = version
        self._contact()
        if not self.synced.is_set():
            self.synced.set()
            log.info("cache.filled", kind=self.kind, objects=len(listed["items"]))

    async def _watch(self, version: str) -> None:
        query = {
            **self._watched.query,
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._jittered_timeout_s()),
        }
        stream = self._client.stream(
            self._watched.api, self._namespace, timeout_s=self._settings.inactivity_s, **query
        )
        started = time.monotonic()
        try:
            async with stream as events:
                self._connected = True
                async for event in events:
                    self._failures = 0
                    self._contact()
                    self._take(event)
        finally:
            self._connected = False
        if time.monotonic() - started < SHORTEST_WATCH_S:
            raise ApiError(503, "WatchEnded", "the watch ended at once")

    def _take(self, event: Document) -> None:
        document = event["object"]
        type_ = str(event["type"])
        WATCH_EVENTS.labels(self.kind, type_).inc()
        if type_ == "ERROR":
            code = int(document.get("code") or 500)
            raise ApiError(code, str(document.get("reason", "")), str(document.get("message", "")))
        self._version = document["metadata"]["resourceVersion"]
        if type_ == "DELETED":
            self._view.remove(self.kind, document["metadata"]["name"], document["metadata"]["uid"])
        elif type_ in ("ADDED", "MODIFIED"):
            self._view.put(self.kind, document)
        if self.listener and type_ in ("ADDED", "MODIFIED", "DELETED"):
            self.listener.changed(self.kind, document, deleted=type_ == "DELETED")

    async def _recover(self, error: ApiError | ValueError) -> None:
        status = error.status if isinstance(error, ApiError) else 0
        WATCH_RESTARTS.labels(self.kind, "gone" if status == GONE else "broken").inc()
        if status == GONE or isinstance(error, ValueError):
            self._version = None
        if status == GONE and self._failures == 0:
            self._failures = 1
            return
        ceiling = min(
            self._settings.backoff_initial_s * 2 ** min(self._failures, 16), self._settings.backoff_max_s
        )
        if self._failures in (0, 4) or not self._failures % 30:
            log.warning("cache.watch_broken", kind=self.kind, status=status, error=str(error)[:200])
        self._failures += 1
        await asyncio.sleep(random.uniform(ceiling / 2, ceiling))  # noqa: S311 - spreads load, hides nothing

    def _contact(self) -> None:
        self._last_contact = time.monotonic()

    def _jittered_timeout_s(self) -> int:
        return round(self._settings.watch_timeout_s * random.uniform(0.9, 1.0))  # noqa: S311
