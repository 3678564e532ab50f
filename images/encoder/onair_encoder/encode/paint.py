"""How old what a capture shows is: Chromium paints by its own clock, and captures keep to it. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import mean

PAINTS_PER_S = 60
TICK_US = 16_666
"""Without a GPU Chromium begins its frames at multiples of this on the monotonic clock."""
CAPTURE_MS = 14.0
"""From when Chromium begins a frame until a capture is best due: a calm paint is on the screen after 2 to
3 ms, one of much video after 12, and the next one begins after 17."""
USUAL_PAINT_DELAY_MS = 19.0
"""From there to the screen, until it has been measured: 2 to 3, and as often as not a frame, rarely two."""


def keeps_to_paints(framerate: Fraction) -> bool:
    """Whether captures can be whole paints apart, so that what each shows is equally old."""
    return (PAINTS_PER_S / framerate).denominator == 1


def paced_rate(framerate: Fraction) -> Fraction:
    """The rate of captures and of frames, within 40 ppm of what is asked for.

    Both are whole microseconds apart, as ffmpeg counts, so that one does not drift against the other; and
    whole paints, where that is as near.
    """
    if keeps_to_paints(framerate):
        return 1_000_000 / (TICK_US * PAINTS_PER_S / framerate)
    return Fraction(1_000_000, round(1_000_000 / framerate))


def next_capture_s(from_s: float) -> float:
    """The first moment from then on at which a capture is best due, on the monotonic clock."""
    tick_s, phase_s = TICK_US / 1e6, CAPTURE_MS / 1e3
    return math.ceil((from_s - phase_s) / tick_s) * tick_s + phase_s


def capture_phase_s(capture_s: float) -> float:
    """How long before a capture Chromium last began a frame.

    Args:
        capture_s: when it is due, on the monotonic clock.
    """
    return capture_s % (TICK_US / 1e6)


def capture_age_ms(
    first_capture_s: float | None, framerate: Fraction, paint_delays_ms: Sequence[float]
) -> float:
    """How long ago what a capture shows was painted: the way to the screen, and the wait there.

    Args:
        first_capture_s: on the monotonic clock, None while it is unknown; paints wait equally long for all
            captures that keep to them, 0 to 17 ms.
        paint_delays_ms: how long some paints took to the screen; each, as one that is late for a capture is
            seen with the next.
    """
    delays_ms = paint_delays_ms or [USUAL_PAINT_DELAY_MS]
    if first_capture_s is None or not keeps_to_paints(framerate):
        return _middle([delay_ms + TICK_US / 2000 for delay_ms in delays_ms])
    first_ms, tick_ms = first_capture_s * 1000, TICK_US / 1000
    return _middle([delay_ms + (first_ms - delay_ms) % tick_ms for delay_ms in delays_ms])


def _middle(values: Sequence[float]) -> float:
    """The mean without the lowest and the highest quarter."""
    quarter = len(values) // 4
    return mean(sorted(values)[quarter : len(values) - quarter])
