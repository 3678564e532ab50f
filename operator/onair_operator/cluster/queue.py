"""A level-triggered queue of keys: a key waits at most once and is never worked on twice at a time."""

from __future__ import annotations

import asyncio
from typing import NamedTuple


class Key(NamedTuple):
    """One object to look at, by its kind and name."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class WorkQueue:
    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Key] = asyncio.Queue()
        self._dirty: set[Key] = set()
        self._at_work: set[Key] = set()
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return self._waiting.qsize()

    def add(self, key: Key) -> None:
        """Asks for a look at the key, now or once the present look is over."""
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._at_work:
            self._waiting.put_nowait(key)

    def add_after(self, key: Key, delay_s: float) -> None:
        """Asks for a look after a delay; of several the earliest counts."""
        loop = asyncio.get_running_loop()
        due = loop.time() + delay_s
        timer = self._timers.get(key)
        if timer and not timer.cancelled() and loop.time() < timer.when() <= due:
            return
        if timer:
            timer.cancel()
        self._timers[key] = loop.call_at(due, self._due, key)

    def _due(self, key: Key) -> None:
        self._timers.pop(key, None)
        self.add(key)

    async def take(self) -> Key:
        """The next key; it counts as at work until `done`."""
        key = await self._waiting.get()
        self._dirty.discard(key)
        self._at_work.add(key)
        return key

    def done(self, key: Key) -> None:
        self._at_work.discard(key)
        if key in self._dirty:
            self._waiting.put_nowait(key)

    def clear(self) -> None:
        """Drops timers; keys that wait are left to their workers."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
