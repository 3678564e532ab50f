"""How old what a capture shows is: Chromium paints by its own clock, and captures keep to it. Pure."""

from __future__ import annotations

from fractions import Fraction

PAINTS_PER_S = 60
TICK_US = 16_666
"""Without a GPU Chromium begins its frames at multiples of this on the monotonic clock."""
ON_SCREEN_US = 3_500
"""From there to the screen, if none of its stages is a frame behind; measured."""


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


def wait_ms(first_capture_s: float, framerate: Fraction) -> float:
    """How long what is painted waits for its capture: 0 to 17 ms, for all of a stream; else in the mean.

    Args:
        first_capture_s: on the monotonic clock.
    """
    if not keeps_to_paints(framerate):
        return TICK_US / 2000
    return (first_capture_s * 1e6 - ON_SCREEN_US) % TICK_US / 1000
