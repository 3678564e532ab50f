"""The frame rate of a video, from the times of its frames. Pure."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from statistics import median

LEAST_FRAMES = 5
LONGEST_GAP = 3.0
"""Steps that are longer than so many usual ones do not count: time has jumped, or frames were lost."""
TIMESTAMPS = 1 << 32


def framerate_of(timestamps: Collection[int], clock_hz: int) -> float | None:
    """Frames per second, a whole number where it may be one: times are rounded to milliseconds on the way.

    None if there are too few frames.

    Args:
        timestamps: of RTP, 32 bits that wrap round; of frames in any order, as B-frames come late.
    """
    if len(timestamps) < LEAST_FRAMES:
        return None
    first = next(iter(timestamps))
    around = sorted({(each - first + TIMESTAMPS // 2) % TIMESTAMPS for each in timestamps})
    steps = [after - before for before, after in pairwise(around)]
    usual = LONGEST_GAP * median(steps) if steps else 0
    counted = [step for step in steps if step <= usual]
    if len(counted) + 1 < LEAST_FRAMES:
        return None
    framerate = len(counted) * clock_hz / sum(counted)
    exact_by = framerate * clock_hz / 1000 / sum(counted)
    whole = round(framerate)
    return float(whole) if abs(framerate - whole) <= exact_by else round(framerate, 2)
