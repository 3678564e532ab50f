"""Parts that live and end together, such as the two directions of a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def until_one_ends(*parts: Coroutine[Any, Any, None]) -> tuple[asyncio.Task[None], ...]:
    """Runs all until one has ended, however it did, and cancels the others.

    Returns:
        A task for each, done: what it failed with is for the caller to raise.
    """
    tasks = tuple(asyncio.create_task(part) for part in parts)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return tasks
