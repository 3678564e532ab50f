"""One clock for a stream, whatever its publisher's timestamps do. Pure."""

from __future__ import annotations

WRAP_MS = 1 << 32
MAX_STEP_MS = 2000
"""Timestamps that are further from the time that has passed have jumped."""
BEGIN_MS = MAX_STEP_MS
"""Messages may be so much earlier than the first, and no time may be below 0."""


class Timeline:
    """Places the times of a stream's messages on a clock that continues through every jump.

    It begins with BEGIN_MS. A jump is a new offset. Messages of the other kind still come with the
    old times for a while, so the last two offsets are known, and the one that fits is taken.
    """

    def __init__(self) -> None:
        self._offsets: list[int] = []
        """Newest first, in milliseconds."""
        self._last_ms = BEGIN_MS
        self._last_at_s = 0.0
        self.jumps = 0

    def restart(self) -> None:
        """The publisher is another: its times have nothing to do with those before."""
        self._offsets.clear()

    def place(self, timestamp_ms: int, now_s: float) -> int:
        """The time of a message in milliseconds.

        Args:
            timestamp_ms: as it came, modulo 2 to the 32nd.
            now_s: a monotonic time; what passes during a jump passes on the clock too.
        """
        passed_ms = round((now_s - self._last_at_s) * 1000) if self._last_at_s else 0
        expected_ms = self._last_ms + passed_ms
        for offset in self._offsets:
            placed = _nearest(timestamp_ms + offset, self._last_ms)
            if abs(placed - self._last_ms) <= MAX_STEP_MS or abs(placed - expected_ms) <= MAX_STEP_MS:
                break
        else:
            self.jumps += bool(self._last_at_s)
            # Later than the last in any case: it may come with it, where both were late
            placed = max(expected_ms, self._last_ms + 1) if self._last_at_s else expected_ms
            self._offsets = [placed - timestamp_ms, *self._offsets[:1]]
        if placed >= self._last_ms:
            self._last_ms, self._last_at_s = placed, now_s
        return placed


def _nearest(value_ms: int, to_ms: int) -> int:
    """The number next to `to_ms` that is the same modulo the range of RTMP's timestamps."""
    step = (value_ms - to_ms) % WRAP_MS
    return to_ms + (step if step < WRAP_MS // 2 else step - WRAP_MS)
