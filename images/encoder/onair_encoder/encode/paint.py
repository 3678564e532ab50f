"""How old what a capture shows is: Chromium paints by its own clock, and captures keep to it. Pure."""

from __future__ import annotations

from fractions import Fraction

PAINTS_PER_S = 60
TICK_US = 16_666
"""Without a GPU Chromium begins its frames at multiples of this on the monotonic clock."""
ON_SCREEN_US = 4_700
"""From there to the screen, if none of its stages is a frame behind; measured."""


def paced_rate(framerate: Fraction) -> Fraction:
    """The rate at which each capture is equally long after a paint, if there is one within 40 ppm.

    Captures and frames of such a rate are whole microseconds apart, as ffmpeg counts: neither drifts.
    """
    ticks = PAINTS_PER_S / framerate
    return Fraction(1_000_000, TICK_US * ticks) if ticks.denominator == 1 else framerate


def wait_ms(first_capture_s: float, framerate: Fraction) -> float:
    """How long what is painted waits for its capture: 0 to 17 ms, for all of a stream; else in the mean.

    Args:
        first_capture_s: on the monotonic clock.
    """
    if paced_rate(framerate) == framerate:
        return TICK_US / 2000
    return (first_capture_s * 1e6 - ON_SCREEN_US) % TICK_US / 1000
