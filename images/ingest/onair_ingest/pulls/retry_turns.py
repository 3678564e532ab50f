"""Bounds what pulls that keep failing cost the ingest server: a change of one path copies and checks all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

RESTS = 2
"""A path that is made is removed later, which takes as long; the server then rests for as long again."""


class RetryTurns:
    """One at a time makes its path: all of a gateway together take no more than two thirds of a CPU."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A turn for as long as the context lasts; the next one begins some time after it."""
        loop = asyncio.get_running_loop()
        await self._turn.acquire()
        began_s = loop.time()
        try:
            yield
        finally:
            loop.call_later(RESTS * (loop.time() - began_s), self._turn.release)
