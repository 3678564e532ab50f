"""Work in tasks of its own: what may take long holds up nobody who asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

log = structlog.get_logger()

AT_A_TIME = 32
"""Requests: half of a client's connections, as the Lease and all looks need some, too."""


class Background:
    """Pieces of work, each by its name once at a time, and so many in all; others wait for their turn."""

    def __init__(self, at_a_time: int = AT_A_TIME) -> None:
        self._turns = asyncio.Semaphore(at_a_time)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __contains__(self, name: str) -> bool:
        """Whether this piece of work is under way, or waits for its turn."""
        return name in self._tasks

    def begin(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Does a piece of work, unless it is under way."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._do(name, work))

    async def _do(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            async with self._turns:
                await work()
        except Exception:  # one piece of work that is broken must not end what leads
            log.exception("background.broken", work=name)
        finally:
            # At once: who is told by the work that it is done may ask for it again.
            self._tasks.pop(name, None)

    async def close(self) -> None:
        """Ends all that is under way."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()
