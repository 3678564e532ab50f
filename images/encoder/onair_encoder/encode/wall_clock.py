"""The wall clock next to the monotonic one: ffmpeg stamps what it captures by the former, which may jump."""

from __future__ import annotations

import time
from collections.abc import Callable

APART_S = 0.0003
"""Two readings of a clock that are further apart had another thread run in between."""
LEAST_STEP_S = 0.2
"""Between two looks. A clock that is slewed, by 0.05 % at most, never gets there."""


def wall_ahead_s() -> float:
    """Measures how far the wall clock is ahead of the monotonic one, by the best of several readings."""
    readings = []
    for _ in range(10):
        before_s, wall_s, after_s = time.monotonic(), time.time(), time.monotonic()
        readings.append((after_s - before_s, wall_s - (before_s + after_s) / 2))
        if after_s - before_s < APART_S:
            break
    return min(readings)[1]


class ClockSteps:
    def __init__(self, ahead_s: Callable[[], float] = wall_ahead_s) -> None:
        """
        Args:
            ahead_s: by how much the wall clock is ahead of the monotonic one.
        """
        self._ahead_s = ahead_s
        self._before_s = ahead_s()

    def look(self) -> float:
        """Gives by how many seconds the wall clock was set since the last look; 0 where it was not."""
        now_s = self._ahead_s()
        step_s, self._before_s = now_s - self._before_s, now_s
        return step_s if abs(step_s) > LEAST_STEP_S else 0.0
