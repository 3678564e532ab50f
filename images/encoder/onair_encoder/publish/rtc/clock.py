"""Puts the programme's clock on the machine's, so that a room's picture and sound keep their distance. Pure.

A room takes sound as being of the time at which it is handed over. The picture has to
carry a time on that clock. What lies between the two clocks is the least delay that
packets had of late: they are never early, only late.
"""

from __future__ import annotations

WINDOW_US = 1_000_000
JUMP_US = 200_000
SLEW_US = 1_000


class ProgramClock:
    def __init__(self) -> None:
        self._offset_us: int | None = None
        self._window_ends_us = 0
        self._least_us: int | None = None
        self._least_before_us: int | None = None
        self._last_us = 0

    def arrived(self, timestamp_ms: int, now_us: int) -> int:
        """Takes note of a packet; gives how late it is against those of late, in microseconds."""
        offset_us = now_us - timestamp_ms * 1000
        if now_us >= self._window_ends_us:
            self._window_ends_us = now_us + WINDOW_US
            self._least_before_us, self._least_us = self._least_us, offset_us
        elif self._least_us is None or offset_us < self._least_us:
            self._least_us = offset_us
        wanted = min(each for each in (self._least_us, self._least_before_us) if each is not None)
        if self._offset_us is None or abs(wanted - self._offset_us) > JUMP_US:
            self._offset_us = wanted
        else:
            self._offset_us += max(-SLEW_US, min(SLEW_US, wanted - self._offset_us))
        return offset_us - self._offset_us

    def capture_us(self, timestamp_ms: int | None, now_us: int) -> int:
        """The time of a frame on the machine's clock: in order, and never in the future.

        Args:
            timestamp_ms: None where the frame is of no time, as a still is.
        """
        at_us = now_us
        if timestamp_ms is not None and self._offset_us is not None:
            at_us = min(now_us, timestamp_ms * 1000 + self._offset_us)
        self._last_us = max(self._last_us + 1000, at_us)
        return self._last_us
