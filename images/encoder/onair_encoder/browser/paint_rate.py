"""Whether Chromium paints at the usual rate, or as seldom as captures allow. Pure."""

from __future__ import annotations

import math
from collections import Counter

from onair_encoder.browser.frame_trace import Trace
from onair_encoder.encode.paint import LAST_MS

TO_REDUCE, TO_RAISE = 2, 3
"""Measurements in a row: that find paints even before the rate is reduced, and that do not before it is
raised. Paints of transitions are uneven, and over within a second or two."""
PAUSE_MIN_S, PAUSE_MAX_S = 20.0, 320.0
"""Until it is reduced again, after it had to be raised; twice as long each time."""


class PaintRate:
    """How often the present page paints: at the usual rate, or at a reduced one where that does no harm.

    A paint for each frame costs half of what two do, and each capture shows another one, as long as all of
    them come between the same two captures. Where some do not, fewer frames are missed with two for each.
    """

    def __init__(self) -> None:
        self._usual_us: int | None = None
        self._reduced_us: int | None = None
        self.begin()

    def begin(self) -> None:
        """Starts over with another page, of whose paints nothing is known."""
        self.reduced = False
        self._for_other = 0
        """Measurements in a row that speak for the other rate."""
        self._not_before_s = 0.0
        self._pause_s = PAUSE_MIN_S

    def want(self, usual_us: int | None, reduced_us: int | None) -> None:
        """Takes the rates of a programme.

        Args:
            usual_us: from one paint to the next; None leaves the screen's rate as it is.
            reduced_us: the same, at the reduced rate; None if there is none.
        """
        self._usual_us, self._reduced_us = usual_us, reduced_us
        if self.reduced and reduced_us is None:
            self.reduced, self._for_other = False, 0

    @property
    def tick_us(self) -> int | None:
        """The wanted time from one paint to the next."""
        return self._reduced_us if self.reduced else self._usual_us

    @property
    def may_rise(self) -> bool:
        """Whether the reduced rate may soon have to be raised."""
        return self.reduced and self._for_other > 0

    def decide(self, trace: Trace | None, now_s: float, *, time_based: bool) -> bool:
        """Decides again; returns whether that changes the rate.

        Args:
            trace: of the page's paints; None if the browser was too busy to tell.
            now_s: on the monotonic clock.
            time_based: the page's motion goes by time, not by the number of its animation frames.
        """
        allowed = time_based and None not in (self._usual_us, self._reduced_us)
        if self.reduced:
            self._for_other = 0 if self._is_even(trace) else self._for_other + 1
            if allowed and self._for_other < TO_RAISE:
                return False
            self._not_before_s = now_s + self._pause_s
            self._pause_s = min(self._pause_s * 2, PAUSE_MAX_S)
        else:
            speaks = trace is not None and bool(trace.delays_ms) and self._is_even(trace)
            self._for_other = self._for_other + 1 if speaks else 0
            different = self._usual_us != self._reduced_us
            if not (allowed and different and self._for_other >= TO_REDUCE and now_s >= self._not_before_s):
                return False
        self.reduced, self._for_other = not self.reduced, 0
        return True

    def _is_even(self, trace: Trace | None) -> bool:
        """Whether paints reach the screen before the same capture, counted from the start of their frame.

        A tenth of them may not, or one. Those of a page that paints too rarely to tell count as even.
        """
        if trace is None:
            return False
        tick_ms = (self.tick_us or 1) / 1000
        captures = Counter(math.ceil((delay_ms + LAST_MS) / tick_ms) for delay_ms in trace.delays_ms)
        frames = len(trace.delays_ms) + trace.dropped
        others = frames - max(captures.values(), default=0)
        return others <= max(1, frames / 10)
