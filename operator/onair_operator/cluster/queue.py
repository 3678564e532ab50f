"""A level-triggered queue of keys: a key waits at most once and is never worked on twice at a time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import NamedTuple

LATER_TURN = 10
"""Every so many keys one of those that may wait has its turn, however much news there is."""


class Key(NamedTuple):
    """One object to look at, by its kind and name."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class _ServiceTurns:
    """Keys of several services: one of each in turn, those of one service in the order in which they came."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str | None, deque[Key]] = OrderedDict()
        """By service, the next one first; none is empty."""

    def __bool__(self) -> bool:
        return bool(self._lines)

    def append(self, service: str | None, key: Key) -> None:
        self._lines.setdefault(service, deque()).append(key)

    def popleft(self) -> Key:
        service, line = next(iter(self._lines.items()))
        key = line.popleft()
        if line:
            self._lines.move_to_end(service)
        else:
            del self._lines[service]
        return key


class WorkQueue:
    """Keys that are to be looked at, those with news first, and these in turns of services."""

    def __init__(self) -> None:
        self.service_of: Callable[[Key], str | None] = lambda _: None
        """Whose a key is, as far as that is known."""
        self._news = _ServiceTurns()
        self._later: deque[Key] = deque()
        self._waiting = asyncio.Semaphore(0)
        """As many as both have. A key that could wait, and became news, is in both; it is taken once."""
        self._taken = 0
        self._dirty: set[Key] = set()
        self._postponed: set[Key] = set()
        """Those that wait only in `_later`."""
        self._at_work: set[Key] = set()
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._dirty) - len(self._dirty & self._at_work)

    def add(self, key: Key, *, later: bool = False) -> None:
        """Asks for a look at the key, now or once the present look is over.

        Args:
            later: it is no news, and lets go before it what is.
        """
        if key in self._dirty and (later or key not in self._postponed):
            return
        self._dirty.add(key)
        if key in self._at_work:
            return
        if later:
            self._postponed.add(key)
            self._later.append(key)
        else:
            self._postponed.discard(key)
            self._news.append(self.service_of(key), key)
        self._waiting.release()

    def add_after(self, key: Key, delay_s: float) -> None:
        """Asks for a look after a delay; of several the earliest counts."""
        loop = asyncio.get_running_loop()
        due = loop.time() + delay_s
        if timer := self._timers.get(key):
            if timer.when() <= due:  # one that is due already has its turn in a moment
                return
            timer.cancel()
        self._timers[key] = loop.call_at(due, self._due, key)

    def _due(self, key: Key) -> None:
        self._timers.pop(key, None)
        self.add(key)

    async def take(self) -> Key:
        """The next key; it counts as at work until `done`."""
        while True:
            await self._waiting.acquire()
            key = self._next()
            if key in self._dirty and key not in self._at_work:
                self._dirty.discard(key)
                self._postponed.discard(key)
                self._at_work.add(key)
                return key

    def _next(self) -> Key:
        self._taken += 1
        if self._later and (not self._news or self._taken % LATER_TURN == 0):
            return self._later.popleft()
        return self._news.popleft()

    def done(self, key: Key) -> None:
        self._at_work.discard(key)
        if key in self._dirty:
            self._news.append(self.service_of(key), key)
            self._waiting.release()

    def clear(self) -> None:
        """Forgets all that waits, and what is due later, once nobody takes keys any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._news, self._later, self._waiting = _ServiceTurns(), deque(), asyncio.Semaphore(0)
        self._dirty.clear()
        self._postponed.clear()
