"""Counts the turns that others get while something is under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class OthersTurns:
    taken: int = 0


@asynccontextmanager
async def turns_of_others() -> AsyncIterator[OthersTurns]:
    """How often the event loop came to another task meanwhile."""
    turns = OthersTurns()

    async def others() -> None:
        while True:
            await asyncio.sleep(0)
            turns.taken += 1

    task = asyncio.create_task(others())
    try:
        yield turns
    finally:
        task.cancel()
