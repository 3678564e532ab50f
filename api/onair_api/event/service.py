"""The parts of the event interface, connected, and their life."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from onair_api.cache.cluster import Cluster
from onair_api.event.changes.announcer import Changes
from onair_api.event.changes.event_details import BatchNotes
from onair_api.event.custom.bus import Bus
from onair_api.event.custom.publisher import Publisher
from onair_api.event.event import Event
from onair_api.event.replay.buffer import Ring
from onair_api.event.replay.session_store import Departures
from onair_api.event.stream.streams import Streams
from onair_api.live.project.record import Readers
from onair_api.settings import Settings

log = structlog.get_logger()


class Events:
    def __init__(
        self, cluster: Cluster, settings: Settings, readers: Readers, revoked: Callable[[str], bool]
    ) -> None:
        kept = settings.events
        ring = Ring(kept.replay_s, kept.replay_events, kept.replay_bytes)
        self._url = settings.redis.url
        self.bus = Bus(self._url, kept, ring, self._deliver) if self._url else None
        departures = Departures(self.bus.redis if self.bus else None, kept.replay_s)
        self.publisher = Publisher(cluster, self.bus)
        self.streams = Streams(cluster, settings, ring, self.publisher, self.bus, departures, revoked)
        self.notes = BatchNotes(self.bus)
        self._changes = Changes(readers, kept.prefix, self.notes, ring, self._deliver)
        cluster.listen(self._changes)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._run(self.streams.watch_over(), "streams")
        if self.bus:
            self._run(self.bus.run(), "redis")

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._changes.stop()
        if self.bus:
            await self.bus.stop()

    def _deliver(self, event: Event) -> None:
        self.streams.deliver(event)

    def _run(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(_ended)
        self._tasks.append(task)


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("events.task_died", task=task.get_name(), error=type(error).__name__)
