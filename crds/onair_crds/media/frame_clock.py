"""Times of frames in ticks of 27 MHz, from timestamps that were rounded to milliseconds. Pure."""

from __future__ import annotations

from fractions import Fraction

TICKS_PER_S = 27_000_000
TICKS_PER_MS = TICKS_PER_S // 1000
_NTSC = Fraction(1000, 1001)
_NTSC_WITHIN = 1e-4
"""Frames per second. An encoder's own rate may be near one of NTSC's, and a clock of that one would lose a
millisecond within a minute: 500000/16683, of a programme at 29.97, is 6e-4 away."""
MOST_DENOMINATOR = 1_000_000
"""Frames may be any whole number of microseconds apart."""
SAMPLES = 1024
"""In a frame of AAC."""
SAMPLE_RATES_HZ = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
"""By the index in an AudioSpecificConfig (ISO/IEC 14496-3, table 1.18)."""


def video_step(framerate: float) -> Fraction | None:
    """Ticks of a frame; 29.97 stands for 30000/1001, as do its relatives, of two decimals or more."""
    if not 1 <= framerate <= 1000:
        return None
    whole = round(framerate)
    ntsc = whole * _NTSC
    near = abs(float(ntsc) - framerate) < _NTSC_WITHIN or framerate == round(float(ntsc), 2)
    is_ntsc = near and framerate != whole
    return TICKS_PER_S / (ntsc if is_ntsc else Fraction(framerate).limit_denominator(MOST_DENOMINATOR))


def audio_step(rate_index: int) -> Fraction | None:
    """Ticks of a frame of AAC."""
    if rate_index >= len(SAMPLE_RATES_HZ):
        return None
    return Fraction(TICKS_PER_S * SAMPLES, SAMPLE_RATES_HZ[rate_index])


class FrameClock:
    """Frames follow each other in whole steps for as long as their timestamps agree to a millisecond."""

    def __init__(self) -> None:
        self.step: Fraction | None = None
        """Ticks from one frame to the next, where known."""
        self._last: Fraction | None = None

    def ticks(self, time_ms: int) -> int:
        """The time of the next frame; several steps after the last where frames were dropped."""
        time = Fraction(time_ms * TICKS_PER_MS)
        if self.step and self._last is not None:
            exact = self._last + self.step * max(1, round((time - self._last) / self.step))
            if abs(exact - time) < TICKS_PER_MS:
                time = exact
        self._last = time
        return int(time)
