"""Transitions of the agent: a version that grows with each, and the wait for the next."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

HEARTBEAT_S = 2.0


class Changes:
    """Wakes those who follow the status."""

    def __init__(self) -> None:
        self._condition = asyncio.Condition()
        self._version = 0
        self._notifying: set[asyncio.Task[None]] = set()

    def notify(self) -> None:
        """Notes a transition, and wakes those who follow."""
        self._version += 1
        task = asyncio.ensure_future(self._notify())
        self._notifying.add(task)
        task.add_done_callback(self._notifying.discard)

    async def _notify(self) -> None:
        async with self._condition:
            self._condition.notify_all()

    async def after(self, version: int) -> int:
        """Waits for a transition after this version, at most a heartbeat; returns the present one."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_S), self._condition:
                await self._condition.wait_for(lambda: self._version != version)
        return self._version

    async def until(self, check: Callable[[], bool]) -> None:
        """Waits until this holds after a transition; at once where it holds already."""
        async with self._condition:
            await self._condition.wait_for(check)
