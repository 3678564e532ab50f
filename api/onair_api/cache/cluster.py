"""The facade's view of its namespaces, kept fresh: all reflectors and the reads that go past the cache."""

from __future__ import annotations

import asyncio
import functools
import re
from dataclasses import dataclass, field

import structlog

from onair_api.cache.view import View
from onair_api.cache.watched_kinds import BY_KIND, WATCHED, NamespaceRole
from onair_api.metrics import CACHE_AGE, CACHE_OBJECTS, WATCH_EVENTS, WATCH_RESTARTS
from onair_api.settings import Settings
from onair_crds.kube.apis import Api
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.kube.reflector import Listener, Reflector, WatchTarget
from onair_crds.kube.store import Entry
from onair_crds.runtime.lasting_tasks import LastingTasks

log = structlog.get_logger()

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@dataclass(frozen=True)
class Freshness:
    """Whether reads are as fresh as the API server, and why not."""

    ready: bool
    waiting_for: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)


class WatchMetrics:
    """Counts what the reflectors do (`onair_crds.kube.reflector.Metrics`)."""

    def watch_event(self, kind: str, type_: str) -> None:
        WATCH_EVENTS.labels(kind, type_).inc()

    def watch_restarted(self, kind: str, reason: str) -> None:
        WATCH_RESTARTS.labels(kind, reason).inc()


class Cluster:
    """All reflectors of the facade, the view that they fill, and the API client."""

    def __init__(self, client: KubeClient, settings: Settings) -> None:
        self.client = client
        self.view = View()
        self._settings = settings
        self._reflectors = [
            Reflector(
                client,
                self.view,
                WatchTarget(each.kind, each.api, self.namespace(each.kind), each.query),
                settings.cache,
                WatchMetrics(),
            )
            for each in WATCHED
        ]
        self._tasks = LastingTasks()
        for each in self._reflectors:
            CACHE_AGE.labels(each.kind).set_function(functools.partial(getattr, each, "age_s"))
            CACHE_OBJECTS.labels(each.kind).set_function(functools.partial(self.view.size, each.kind))

    def listen(self, listener: Listener) -> None:
        """Notifies of what the watches report; to be called before `start`."""
        for each in self._reflectors:
            each.listener = listener

    def start(self) -> None:
        """Starts to fill the view and to follow the cluster."""
        for each in self._reflectors:
            self._tasks.start(each.run(), f"reflector-{each.kind}")

    async def stop(self) -> None:
        await self._tasks.stop()

    async def filled(self, *kinds: str) -> None:
        """Waits until the kinds (all, if none is named) have been listed once."""
        await asyncio.gather(*(r.synced.wait() for r in self._reflectors if not kinds or r.kind in kinds))

    def has_listed(self, *kinds: str) -> bool:
        """Whether these kinds were listed once."""
        return all(r.synced.is_set() for r in self._reflectors if r.kind in kinds)

    @property
    def alive(self) -> bool:
        """Whether all reflectors run."""
        return self._tasks.alive

    @property
    def age_s(self) -> float:
        """Seconds for which some kind may be behind the API server: since it was last heard on that kind."""
        return max(r.age_s for r in self._reflectors)

    def freshness(self) -> Freshness:
        waiting = [r.kind for r in self._reflectors if not r.synced.is_set()]
        stale = [r.kind for r in self._reflectors if r.age_s > self._settings.cache.stale_after_s]
        return Freshness(not waiting and not stale and self.alive, waiting, stale)

    def namespace(self, kind: str) -> str:
        """The one namespace that objects of this kind live in."""
        settings = self._settings
        match BY_KIND[kind].namespace:
            case NamespaceRole.SHOWS:
                return settings.show_namespace
            case NamespaceRole.KEYS:
                return settings.keys_namespace
            case NamespaceRole.RELEASE:
                return settings.release_namespace

    def api(self, kind: str) -> Api:
        return BY_KIND[kind].api

    async def get(self, kind: str, name: str) -> Entry | None:
        """An object. What the view lacks is fetched: another replica may just have created it.

        Raises:
            ApiError: the API server is unavailable.
        """
        entry = self.view.get(kind, name)
        if entry is not None or not NAME.fullmatch(name):
            return entry
        return await self.fetch(kind, name)

    async def entry(self, kind: str, name: str) -> Entry | None:
        """An object, also while it is being deleted. What the view lacks is fetched.

        Raises:
            ApiError: the API server is unavailable.
        """
        if self.view.entry(kind, name) is None:
            await self.get(kind, name)
        return self.view.entry(kind, name)

    async def fetch(self, kind: str, name: str) -> Entry | None:
        """The object as the API server has it now."""
        known = self.view.entry(kind, name)  # another of its name may come while this is asked
        try:
            document = await self.client.get(self.api(kind), self.namespace(kind), name)
        except ApiError as error:
            if not error.not_found:
                raise
            if known:
                self.view.remove(kind, name, known.uid)
            return None
        self.view.read_again(kind, known, document)
        entry = self.view.entry(kind, name)
        return None if entry is None or entry.deleting else entry
