"""Gives way to what else waits for the event loop, in work on thousands of items."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

Steps = Generator[None, None, T]
"""Work that stops wherever others may have their turn, and has its result at the end."""

STEP_S = 0.005
"""For which such work may hold the event loop; one item may take longer."""


async def in_steps(items: Iterable[T]) -> AsyncIterator[T]:
    """The items; others get their turn whenever these have taken `STEP_S`."""
    began = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - began > STEP_S:
            await asyncio.sleep(0)
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
