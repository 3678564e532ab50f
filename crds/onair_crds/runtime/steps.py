"""Gives way to what else waits for the event loop, in work on thousands of items.

Work that is done for somebody shares a pace with all that is done for them, and paces take turns: so others
wait for as long whether one such work is under way for them or a hundred.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from contextvars import ContextVar
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

Steps = Generator[None, None, T]
"""Work that stops wherever others may have their turn, and has its result at the end."""

STEP_S = 0.0005
"""For which such work may hold the event loop; one item may take longer."""
IDLE_S = 0.000_015
"""A round of the event loop that took less had nothing else to do."""
LATEST_S = 0.002
"""A step is taken at the latest this long after the last one, whatever else there is to do."""


class _Turns:
    """Gives steps to those who wait, one after another, in rounds in which the event loop has nothing else.

    What is served in several short rounds, as most requests are, waits for no step between two of them.
    """

    def __init__(self) -> None:
        self._waiting: dict[SharedPace, None] = {}
        self._running = self._stepping = False
        self._looked = self._stepped = 0.0

    def add(self, pace: SharedPace) -> None:
        self._waiting.setdefault(pace)
        if not self._running:
            self._running = True
            asyncio.get_running_loop().call_soon(self._round)

    def _round(self) -> None:
        now = time.monotonic()
        if self._stepping:
            self._stepping, self._stepped = False, now
        elif now - self._looked < IDLE_S or now - self._stepped > LATEST_S:
            self._step()
        self._running = self._stepping or bool(self._waiting)
        if self._running:
            asyncio.get_running_loop().call_soon(self._round)
        self._looked = time.monotonic()

    def _step(self) -> None:
        while self._waiting and not self._stepping:
            pace = next(iter(self._waiting))
            del self._waiting[pace]
            self._stepping = pace.go_on()
            if pace.busy:
                self._waiting[pace] = None


_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()


class SharedPace:
    """Lets those who wait go on one after another, in turn with those of other paces."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def turn(self) -> None:
        """Waits for the next turn."""
        loop = asyncio.get_running_loop()
        mine = loop.create_future()
        self._waiting.append(mine)
        _TURNS.setdefault(loop, _Turns()).add(self)
        await mine

    @property
    def busy(self) -> bool:
        """Whether somebody waits."""
        return bool(self._waiting)

    def go_on(self) -> bool:
        """Gives a turn to who has waited longest; whether anybody has."""
        while self._waiting:
            first = self._waiting.popleft()
            if not first.done():  # cancelled meanwhile
                first.set_result(None)
                return True
        return False


PACE: ContextVar[SharedPace | None] = ContextVar("pace", default=None)
"""That of whom this context works for."""


async def in_steps(items: Iterable[T]) -> AsyncIterator[T]:
    """The items; others get their turn whenever these have taken `STEP_S`."""
    pace = PACE.get()
    if pace and pace.busy:
        await pace.turn()
    began = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - began > STEP_S:
            await (pace.turn() if pace else asyncio.sleep(0))
            began = time.monotonic()


def at_once(work: Steps[T]) -> T:
    """Does all of the work in one step."""
    steps = _Resulting(work)
    for _ in steps:
        pass
    return steps.result


async def done(work: Steps[T]) -> T:
    """Does all of the work; others get their turn whenever it has taken `STEP_S`."""
    steps = _Resulting(work)
    async for _ in in_steps(steps):
        pass
    return steps.result


class _Resulting(Generic[T]):
    """Steps of work, and its result once they are done."""

    result: T

    def __init__(self, work: Steps[T]) -> None:
        self._work = work

    def __iter__(self) -> Iterator[None]:
        self.result = yield from self._work
