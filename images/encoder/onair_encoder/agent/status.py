"""What the agent reports of itself: a version that grows with each transition, and the bitrate."""

from __future__ import annotations

import asyncio
import contextlib
import time

HEARTBEAT_S = 2.0


class Changes:
    """Wakes those who follow the status."""

    def __init__(self) -> None:
        self._condition = asyncio.Condition()
        self._version = 0
        self._notifying: set[asyncio.Task[None]] = set()

    def notify(self) -> None:
        """There was a transition."""
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


class BitrateMeter:
    """Bits per second of a count of bytes, over at least a second."""

    def __init__(self) -> None:
        self._at, self._bytes, self._bps = time.monotonic(), 0, 0

    def bps(self, total_bytes: int) -> int:
        elapsed_s = time.monotonic() - self._at
        if elapsed_s >= 1.0:
            self._bps = round((total_bytes - self._bytes) * 8 / elapsed_s)
            self._at, self._bytes = time.monotonic(), total_bytes
        return self._bps
