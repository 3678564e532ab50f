"""How many previews there are at once: the others wait, and say so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

WAITS_S = 2.0
"""One that looks whether its stream is there takes a turn for a moment: who waits for that says nothing."""


class Turns:
    """Those of one preview; the semaphores are everybody's."""

    def __init__(
        self, running: asyncio.Semaphore, joining: asyncio.Semaphore, waits: Callable[[], None]
    ) -> None:
        """
        Args:
            running: bounds how many previews there are at once.
            joining: bounds how many begin at once: each takes a second of a core or two, so that of
                many that began together none had joined in time on a busy machine, time after time.
            waits: hears that this one waits for others to end, once each time.
        """
        self._running, self.joining, self._waits = running, joining, waits

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A turn for as long as the context lasts."""
        saying = asyncio.get_running_loop().call_later(WAITS_S, self._waits)
        try:
            await self._running.acquire()
        finally:
            saying.cancel()
        try:
            yield
        finally:
            self._running.release()
