"""Clicks where a tone begins or falls silent. Pure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.support.media.live_view import SAMPLE_RATE

BLOCK, CLICK_HZ = 480, 5000
CLICK = 0.0001
"""What is louder is one, of what is as high: a tone of 0.5 that is cut off is 4 to 60 times that, by its
phase."""
AROUND = 4
"""Blocks before and after an edge that belong to it."""


class ToneEdge(NamedTuple):
    begins: bool
    """Or falls silent."""
    click: float
    """The loudest around it."""


def edges_of(sound: NDArray[np.float32], peak: float) -> list[ToneEdge]:
    """Where a tone begins or falls silent.

    What is missing for a moment as the machine was late has its own edges, with clicks.
    """
    blocks = len(sound) // BLOCK
    levels = np.abs(sound[: blocks * BLOCK]).reshape(blocks, -1).max(axis=1)
    found: list[ToneEdge] = []
    before: bool | None = None
    since = 0
    for number, level in enumerate(levels):
        if peak / 100 <= level <= peak / 2:
            continue
        loud = bool(level > peak / 2)
        if before not in (None, loud):
            around = sound[max(0, since - AROUND) * BLOCK : (number + 1 + AROUND) * BLOCK]
            found.append(ToneEdge(loud, _loudest_click(around)))
        before, since = loud, number
    return found


def _loudest_click(sound: NDArray[np.float32]) -> float:
    """The loudest of what is far above the tone: a click has all frequencies, for a moment."""
    windows = np.lib.stride_tricks.sliding_window_view(sound, BLOCK)[:: BLOCK // 2]
    shape = np.hanning(BLOCK)
    spectra = np.abs(np.fft.rfft(windows * shape, axis=1)) * 2 / shape.sum()
    return float(spectra[:, round(CLICK_HZ * BLOCK / SAMPLE_RATE) :].max())
