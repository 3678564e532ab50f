"""Whether Chromium paints at the usual rate, or as rarely as captures allow. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from onair_encoder.encode.paint import LAST_MS

CALM_MARGIN_MS, LATE_MARGIN_MS = 8.0, 2.0
"""Before a capture: where paints are on the screen by then the rate is lowered, where not it is raised."""
LOOKS = 2
"""In a row that find calm paints before the rate is lowered."""
PAUSE_MIN_S, PAUSE_MAX_S = 20.0, 320.0
"""Until it is lowered again, after it had to be raised; twice as long each time."""


class PaintRate:
    """How often the present page paints: usually, or, where it may and its paints are fast, sparingly.

    A paint for each frame costs half of what two do, and each capture shows the one that was meant for it, as
    long as all of them are in time. Where some are not, frames are missed, so then there are two.
    """

    def __init__(self) -> None:
        self._usual_us: int | None = None
        self._sparing_us: int | None = None
        self.begin()

    def begin(self) -> None:
        """There is another page: nothing is known of its paints."""
        self.sparing = False
        self._calm_looks = 0
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
        if not time_based or self._sparing_us in (None, self._usual_us):
            self.sparing, self._calm_looks = False, 0
        elif self.sparing:
            if self._late(delays_ms, LATE_MARGIN_MS):
                self.sparing = False
                self._not_before_s = now_s + self._pause_s
                self._pause_s = min(self._pause_s * 2, PAUSE_MAX_S)
        else:
            calm = bool(delays_ms) and not self._late(delays_ms, CALM_MARGIN_MS)
            self._calm_looks = self._calm_looks + 1 if calm else 0
            if self._calm_looks >= LOOKS and now_s >= self._not_before_s:
                self.sparing, self._calm_looks = True, 0
        return self.sparing != before

    def _late(self, delays_ms: Sequence[float] | None, margin_ms: float) -> bool:
        """Whether more than a tenth of paints, and more than one, come later than that ahead of a capture."""
        if delays_ms is None:
            return True
        bound_ms = (self._sparing_us or 0) / 1000 - LAST_MS - margin_ms
        return sum(delay_ms > bound_ms for delay_ms in delays_ms) > max(1, len(delays_ms) / 10)
