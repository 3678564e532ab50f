"""Gives way to what else waits for the event loop, in work on thousands of items.

Work that is done for somebody shares a pace with all that is done for them: one step of it is taken in a
round of the event loop. So others wait for as long whether one such work is under way for them or a hundred.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")

Steps = Generator[None, None, T]
"""Work that stops wherever others may have their turn, and has its result at the end."""

STEP_S = 0.002
"""For which such work may hold the event loop; one item may take longer."""


class SharedPace:
    """Lets one of those who wait go on in each round of the event loop."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._passing = False

    async def turn(self) -> None:
        """Waits for the next turn."""
        loop = asyncio.get_running_loop()
        mine = loop.create_future()
        self._waiting.append(mine)
        if not self._passing:
            self._passing = True
            loop.call_soon(self._pass)
        await mine

    @property
    def busy(self) -> bool:
        """Whether somebody waits."""
        return self._passing

    def _pass(self) -> None:
        while self._waiting and self._waiting[0].done():  # cancelled meanwhile
            self._waiting.popleft()
        if self._waiting:
            self._waiting.popleft().set_result(None)
        self._passing = bool(self._waiting)
        if self._passing:
            asyncio.get_running_loop().call_soon(self._pass)


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
            await next_turn()
            began = time.monotonic()


async def next_turn() -> None:
    """Gives others their turn between two parts of a work that each take several milliseconds at most."""
    pace = PACE.get()
    await (pace.turn() if pace else asyncio.sleep(0))


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
