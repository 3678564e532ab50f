"""A clock that goes on only when a test says so, and only under the eyes of what it times."""

from __future__ import annotations

from tests.support.waiting import until

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
        await until(lambda: self._looks >= seen, "the new time is seen", 10, poll_s=0.001)
