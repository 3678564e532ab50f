"""Whether Chromium paints at the usual rate, or as rarely as captures allow. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from onair_encoder.encode.paint import LAST_MS

EVEN_LOOKS, UNEVEN_LOOKS = 2, 3
"""In a row: that find paints even before the rate is lowered, and that do not before it is raised. Paints of
transitions are uneven, and over within a second or two."""
PAUSE_MIN_S, PAUSE_MAX_S = 20.0, 320.0
"""Until it is lowered again, after it had to be raised; twice as long each time."""


class PaintRate:
    """How often the present page paints: usually, or, where it may and its paints are even, sparingly.

    A paint for each frame costs half of what two do, and each capture shows another one, as long as all of
    them come between the same two captures. Where some do not, fewer frames are missed with two for each.
    """

    def __init__(self) -> None:
        self._usual_us: int | None = None
        self._sparing_us: int | None = None
        self.begin()

    def begin(self) -> None:
        """There is another page: nothing is known of its paints."""
        self.sparing = False
        self._looks = 0
        """In a row that speak for the other rate."""
        self._not_before_s = 0.0
        self._pause_s = PAUSE_MIN_S

    def want(self, usual_us: int | None, sparing_us: int | None) -> None:
        """
        Args:
            usual_us: from one paint to the next; None leaves the screen's rate as it is.
            sparing_us: the same, at the lower rate; None where there is none.
        """
        self._usual_us, self._sparing_us = usual_us, sparing_us

    @property
    def tick_us(self) -> int | None:
        """From one paint to the next."""
        return self._sparing_us if self.sparing else self._usual_us

    def look(self, delays_ms: Sequence[float] | None, now_s: float, *, time_based: bool) -> bool:
        """Decides anew; returns whether that changes the rate.

        Args:
            delays_ms: how long paints took to the screen; empty where the page painted too rarely for that,
                None where the browser was too busy to tell.
            now_s: on the monotonic clock.
            time_based: the page's motion goes by time, not by the number of its animation frames.
        """
        before = self.sparing
        if not time_based or None in (self._usual_us, self._sparing_us) or self._usual_us == self._sparing_us:
            self.sparing, self._looks = False, 0
        elif self.sparing:
            self._looks = 0 if self._are_even(delays_ms) else self._looks + 1
            if self._looks == UNEVEN_LOOKS:
                self.sparing, self._looks = False, 0
                self._not_before_s = now_s + self._pause_s
                self._pause_s = min(self._pause_s * 2, PAUSE_MAX_S)
        else:
            self._looks = self._looks + 1 if delays_ms and self._are_even(delays_ms) else 0
            if self._looks >= EVEN_LOOKS and now_s >= self._not_before_s:
                self.sparing, self._looks = True, 0
        return self.sparing != before

    @property
    def in_doubt(self) -> bool:
        """Whether the lower rate may soon have to be raised."""
        return self.sparing and self._looks > 0

    def _are_even(self, delays_ms: Sequence[float] | None) -> bool:
        """Whether paints are seen by the same capture after their frame began, but for a tenth, or one."""
        if not delays_ms:
            return delays_ms is not None
        tick_ms = (self.tick_us or 1) / 1000
        captures = Counter(math.ceil((delay_ms + LAST_MS) / tick_ms) for delay_ms in delays_ms)
        others = len(delays_ms) - max(captures.values())
        return others <= max(1, len(delays_ms) / 10)
