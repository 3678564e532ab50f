"""Gives way to what else waits for the event loop, in work on thousands of items."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")

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
