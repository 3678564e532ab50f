"""Gives way to what else waits for the event loop, in work on thousands of items."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Generator, Iterable
from typing import TypeVar

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
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result


async def done(work: Steps[T]) -> T:
    """Does all of the work; others get their turn whenever it has taken `STEP_S`."""
    began = time.monotonic()
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result
        if time.monotonic() - began > STEP_S:
            await asyncio.sleep(0)
            began = time.monotonic()
