"""Keeps one kind of a store equal to the API server's: list, watch, and again when a watch ends or breaks."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from onair_crds.backoff import backoff_s
from onair_crds.kube.apis import Api
from onair_crds.kube.client import JSON, KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Change, Store
from onair_crds.shapes import Document

log = structlog.get_logger()

GONE = 410
SHORTEST_WATCH_S = 0.5


@dataclass(frozen=True)
class WatchTarget:
    """A kind of the store that is listed and watched: its API, and which of its objects."""

    kind: str
    api: Api
    namespace: str | None
    query: dict[str, str] = field(default_factory=dict)
    accept: str = JSON
    """The form of lists."""


class Listener(Protocol):
    """Notified of what the API server reports, not of this process' own writes."""

    def listed(self, kind: str, documents: list[Document], version: int) -> None:
        """All objects of a kind at a resourceVersion: at first, and when a watch could not be resumed."""

    def changed(self, kind: str, document: Document, *, deleted: bool) -> None:
        """One object as a watch reported it."""


class Metrics(Protocol):
    """Counts what reflectors do."""

    def watch_event(self, kind: str, type_: str) -> None:
        """An event of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    def watch_restarted(self, kind: str, reason: str) -> None:
        """A watch or list ended by an error: `gone` when it was too old to be resumed, else `broken`."""


class ReflectorTimeouts(Protocol):
    """Timeouts of a reflector, in seconds."""

    @property
    def watch_timeout_s(self) -> int: ...
    @property
    def inactivity_s(self) -> float: ...
    @property
    def backoff_initial_s(self) -> float: ...
    @property
    def backoff_max_s(self) -> float: ...


Page = Callable[[list[Document], list[Change]], None]
"""Takes a part of a list, and what it changed in the store."""


async def relist(client: KubeClient, store: Store, target: WatchTarget, page: Page) -> int:
    """Lists a kind and makes the store equal to it, a page at a time; gives the list's resourceVersion.

    `page` is called with every page, and at last with what the list lacks.

    A list that names no resourceVersion is never of a late cache of the API server: it has all that was known
    when it was asked for. Where it has less, the API server's data was put back to an earlier state, and the
    kind starts over.

    Raises:
        ApiError: the list failed; the store has taken its first pages, and has dropped nothing.
    """
    alive: set[str] = set()
    known, version = store.version(target.kind), 0
    pages = client.pages(target.api, target.namespace, accept=target.accept, **target.query)
    async for part in pages:
        version = int(part["metadata"]["resourceVersion"])
        if version < known:
            _start_over(store, target.kind, known, version)
            known = version
        documents: list[Document] = part["items"]
        alive.update(document["metadata"]["uid"] for document in documents)
        updates = [store.update(target.kind, document) for document in documents]
        page(documents, [change for change in updates if change])
    page([], store.drop_missing(target.kind, alive, version))
    return version


def _start_over(store: Store, kind: str, known: int, version: int) -> None:
    log.warning("cache.restored", kind=kind, known=known, version=version)
    store.start_over(kind, version)


class Reflector:
    """One list and watch. `run` never returns; `synced` and `age_s` say how far the store can be trusted."""

    def __init__(
        self,
        client: KubeClient,
        store: Store,
        target: WatchTarget,
        timing: ReflectorTimeouts,
        metrics: Metrics,
    ) -> None:
        self.listener: Listener | None = None
        self.kind = target.kind
        self.synced = asyncio.Event()
        self._client = client
        self._store = store
        self._target = target
        self._timing = timing
        self._metrics = metrics
        self._version: str | None = None
        self._in_doubt = False
        """Whether the last watch ended without a word: as where its version is one that is yet to come."""
        self._failures = 0
        self._last_contact = time.monotonic()

    @property
    def age_s(self) -> float:
        """Seconds since the API server was last heard on this kind, for which the store may be behind.

        An open connection proves nothing: a half-open one is as silent as a quiet one. The server ends
        each watch after `watch_timeout_s`, so a watch that works is heard at least so often.
        """
        return time.monotonic() - self._last_contact

    async def run(self) -> None:
        while True:
            try:
                if self._version and self._in_doubt:
                    await self._check_version()
                if self._version is None:
                    await self._list()
                await self._watch(self._version or "")
            except (ApiError, ValueError) as error:
                self._in_doubt = True
                await self._recover(error)

    async def _check_version(self) -> None:
        """Has everything listed where the API server is behind what it was heard to have.

        A watch from a version that is yet to come brings nothing until then.
        """
        known = self._store.version(self.kind)
        version = await self._client.version(self._target.api, self._target.namespace, **self._target.query)
        if version < known:
            _start_over(self._store, self.kind, known, version)
            self._version = None

    async def _list(self) -> None:
        documents: list[Document] = []
        version = await relist(
            self._client, self._store, self._target, lambda page, _: documents.extend(page)
        )
        if self.listener:
            self.listener.listed(self.kind, documents, version)
        self._version = str(version)
        self._contact()
        if not self.synced.is_set():
            self.synced.set()
            log.info("cache.filled", kind=self.kind, objects=len(documents))

    async def _watch(self, version: str) -> None:
        query = {
            **self._target.query,
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._jittered_timeout_s()),
        }
        stream = self._client.stream(
            self._target.api, self._target.namespace, timeout_s=self._timing.inactivity_s, **query
        )
        started = time.monotonic()
        self._in_doubt = True
        async with stream as events:
            async for event in events:
                self._contact()
                self._take(event)
                self._failures = 0
                self._in_doubt = False
        self._contact()
        if time.monotonic() - started < SHORTEST_WATCH_S:
            raise ApiError(503, "WatchEnded", "the watch ended at once")

    def _take(self, event: Document) -> None:
        document = event["object"]
        type_ = str(event["type"])
        self._metrics.watch_event(self.kind, type_)
        if type_ == "ERROR":
            code = int(document.get("code") or 500)
            raise ApiError(code, str(document.get("reason", "")), str(document.get("message", "")))
        self._version = str(document["metadata"]["resourceVersion"])
        self._store.heard(self.kind, int(self._version))
        if type_ == "DELETED":
            self._store.remove(self.kind, document["metadata"]["name"], document["metadata"]["uid"])
        elif type_ in ("ADDED", "MODIFIED"):
            self._store.update(self.kind, document)
        if self.listener and type_ in ("ADDED", "MODIFIED", "DELETED"):
            self.listener.changed(self.kind, document, deleted=type_ == "DELETED")

    async def _recover(self, error: ApiError | ValueError) -> None:
        status = error.status if isinstance(error, ApiError) else 0
        self._metrics.watch_restarted(self.kind, "gone" if status == GONE else "broken")
        if status == GONE or isinstance(error, ValueError):
            self._version = None
        if status == GONE and self._failures == 0:
            self._failures = 1
            return
        ceiling = backoff_s(self._failures, self._timing.backoff_initial_s, self._timing.backoff_max_s)
        if self._failures in (0, 4) or not self._failures % 30:
            log.warning("cache.watch_broken", kind=self.kind, status=status, error=str(error)[:200])
        self._failures += 1
        await asyncio.sleep(random.uniform(ceiling / 2, ceiling))  # noqa: S311 - spreads load, hides nothing

    def _contact(self) -> None:
        self._last_contact = time.monotonic()

    def _jittered_timeout_s(self) -> int:
        return round(self._timing.watch_timeout_s * random.uniform(0.9, 1.0))  # noqa: S311
