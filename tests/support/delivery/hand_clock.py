"""A clock that goes on only when a test says so, and only under the eyes of what it times."""

from __future__ import annotations

import asyncio

LOOKS = 2
"""After so many the one that was under way has seen the new time too."""


class HandClock:
    def __init__(self) -> None:
        self._now = 1000.0
        self._looks = 0

    def __call__(self) -> float:
        self._looks += 1
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds

    async def passes(self, seconds: float) -> None:
        """Returns when that was noticed."""
        self.advance(seconds)
        seen = self._looks + LOOKS
        async with asyncio.timeout(10):
            while self._looks < seen:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
