"""Judges whether the encode makes progress: frames that stop, and an ffmpeg that ends again and again.

Pure but for its clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FRAME_TIMEOUT_S = 3.0
"""An ffmpeg that has encoded nothing for so long hangs."""
FIRST_FRAME_TIMEOUT_S = 10.0
"""The same, from its start: on a busy node it takes a while."""
STEADY_S = 30.0
"""Failures are forgotten after so long without another."""


class EncodeHealth:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.failures = 0
        """In a row: of those that hung or ended by themselves."""
        self._clock = clock
        self._frames = 0
        self._deadline: float | None = None
        """When the present ffmpeg must have encoded another frame; None while none runs."""
        self._failed_at = clock()

    def started(self) -> None:
        self._deadline = self._clock() + FIRST_FRAME_TIMEOUT_S

    def encoded(self, frames: int) -> bool:
        """Takes the total of frames; whether failures are forgotten with that."""
        if frames <= self._frames or self._deadline is None:
            return False
        self._frames = frames
        self._deadline = self._clock() + FRAME_TIMEOUT_S
        if not self.failures or self._clock() - self._failed_at < STEADY_S:
            return False
        self.failures = 0
        return True

    @property
    def hangs(self) -> bool:
        return self._deadline is not None and self._clock() > self._deadline

    def ended(self, *, failed: bool) -> None:
        """Notes that ffmpeg has ended.

        Args:
            failed: it is to blame, and not what it captures from.
        """
        self._deadline = None
        if failed:
            self.failures += 1
            self._failed_at = self._clock()
