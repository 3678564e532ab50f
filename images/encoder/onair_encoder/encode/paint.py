"""How often Chromium paints, and how old what a capture shows is: captures keep to its clock. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import mean

FEWEST_PAINTS_PER_S = 46
"""Where the processor is busy, a paint that is late is seen with the next one, half a frame later. And pages
that move by so much with each animation frame expect about 60 a second."""
REDUCED_PAINTS_PER_S = 23
"""At least, of a page whose paints are even and whose motion goes by time."""
LAST_MS = 2.7
"""Before Chromium begins its next frame, a capture is best due: a calm paint is on the screen after 2 to
3 ms, one of much video on a busy machine after 16, and a capture itself may be late."""
USUAL_PAINT_MS = 2.3
"""From when a frame begins to the screen; in one start of five a frame later."""


@dataclass(frozen=True)
class Paints:
    """What is known of the paints of a page.

    Attributes:
        tick_us: from one to the next.
        delays_ms: how long some took to the screen; empty while that is unknown.
    """

    tick_us: int
    delays_ms: tuple[float, ...] = ()


def paints_per_frame(framerate: Fraction) -> int:
    """How often Chromium is to paint for each frame of the programme."""
    return math.ceil(FEWEST_PAINTS_PER_S / framerate)


def tick_us(framerate: Fraction) -> int:
    """The time from one of Chromium's frames to the next: a frame of the programme, or a whole part of one.

    The browser's screen says so (`x_screen.set_refresh`); without a GPU Chromium begins its frames at
    multiples of that, in whole microseconds on the monotonic clock.
    """
    return round(1_000_000 / (framerate * paints_per_frame(framerate)))


def reduced_tick_us(framerate: Fraction) -> int:
    """The same where Chromium paints as rarely as it may; a multiple of the other, a part of a frame."""
    most = paints_per_frame(framerate)
    parts = [each for each in range(1, most + 1) if most % each == 0]
    fewest = next((each for each in parts if each * framerate >= REDUCED_PAINTS_PER_S), most)
    return tick_us(framerate) * (most // fewest)


def paced_rate(framerate: Fraction) -> Fraction:
    """The rate of captures and of frames, within 40 ppm of what is asked for.

    Both are whole paints apart, so that what each shows is equally old, and whole microseconds, as ffmpeg
    counts, so that one does not drift against the other.
    """
    return Fraction(1_000_000, tick_us(framerate) * paints_per_frame(framerate))


def capture_at_ms(framerate: Fraction) -> float:
    """The time from when Chromium begins a frame until a capture is best due, at the reduced rate.

    Where it paints more often, it begins further ones meanwhile, and the last as long before the capture as
    is best at that rate.
    """
    return reduced_tick_us(framerate) / 1000 - LAST_MS


def next_capture_s(from_s: float, framerate: Fraction) -> float:
    """The first moment from then on at which a capture is best due, on the monotonic clock.

    It is so for both rates of paints: Chromium changes from one to the other on air, captures stay.
    """
    tick_s, phase_s = reduced_tick_us(framerate) / 1e6, capture_at_ms(framerate) / 1e3
    return math.ceil((from_s - phase_s) / tick_s) * tick_s + phase_s


def capture_phase_s(capture_s: float, tick_us: int) -> float:
    """How long before a capture Chromium last began a frame.

    Args:
        capture_s: when it is due, on the monotonic clock.
        tick_us: from one frame of Chromium's to the next.
    """
    return capture_s % (tick_us / 1e6)


def off_phase_ms(capture_s: float, framerate: Fraction) -> float:
    """How far a capture is from where captures are best due.

    Args:
        capture_s: when it is due, on the monotonic clock.
    """
    tick_ms = reduced_tick_us(framerate) / 1000
    off_ms = (capture_s * 1000 - capture_at_ms(framerate)) % tick_ms
    return min(off_ms, tick_ms - off_ms)


def capture_age_ms(first_capture_s: float | None, framerate: Fraction, paints: Paints) -> float:
    """How long ago what a capture shows was painted: the way to the screen, and the wait there.

    Args:
        first_capture_s: on the monotonic clock, None while it is unknown; paints wait equally long for all
            captures.
        paints: each of its delays counts, as a paint that is late for a capture is seen with the next.
    """
    tick_ms = paints.tick_us / 1000
    # Until it is measured the middle between both: half a frame off at most
    delays_ms = paints.delays_ms or (USUAL_PAINT_MS, USUAL_PAINT_MS + tick_ms)
    first_ms = capture_at_ms(framerate) if first_capture_s is None else first_capture_s * 1000
    return _middle([delay_ms + (first_ms - delay_ms) % tick_ms for delay_ms in delays_ms])


def _middle(values: list[float]) -> float:
    """The mean without the lowest and the highest quarter."""
    quarter = len(values) // 4
    return mean(sorted(values)[quarter : len(values) - quarter])
