"""The clock that dates segments: a step of the wall clock is no hole between two of them."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable

from onair_encoder.encode.wall_clock import wall_ahead_s


class SteadyClock:
    """Shows what the wall clock showed at the first look, and the time that has passed since."""

    def __init__(
        self, ahead_s: Callable[[], float] = wall_ahead_s, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """
        Args:
            ahead_s: by how much the wall clock is ahead of the monotonic one.
        """
        self._measure_ahead_s, self._monotonic = ahead_s, monotonic
        self._ahead_s: float | None = None

    def __call__(self) -> dt.datetime:
        if self._ahead_s is None:
            self._ahead_s = self._measure_ahead_s()
        return dt.datetime.fromtimestamp(self._monotonic() + self._ahead_s, dt.UTC)


STEADY_CLOCK = SteadyClock()
"""One for this process: a destination may continue the recording of another one."""
