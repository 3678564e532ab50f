"""A tone that is cut off clicks, at whatever point of its wave; one that fades for a moment does not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.media.clicks import CLICK, ToneEdge, edges_of
from tests.support.media.live_view import SAMPLE_RATE

HZ, PEAK = 440, 0.5
SECONDS = np.arange(2 * SAMPLE_RATE) / SAMPLE_RATE
PHASES_S = [part / HZ / 8 for part in range(8)]


def edges(late_s: float, fade_s: float) -> list[ToneEdge]:
    """Of a tone that falls silent after half a second, and begins again half a second later."""
    times = [0.5 + late_s, 0.5 + late_s + fade_s, 1.0 + late_s, 1.0 + late_s + fade_s]
    gain = np.interp(SECONDS, times, [1, 0, 0, 1])
    return edges_of((PEAK * gain * np.sin(2 * np.pi * HZ * SECONDS)).astype(np.float32), PEAK)


@pytest.mark.parametrize("late_s", PHASES_S)
def test_a_tone_that_is_cut_off_clicks(late_s: float) -> None:
    found = edges(late_s, fade_s=1e-6)
    assert [each.begins for each in found] == [False, True]
    assert min(each.click for each in found) > 4 * CLICK


@pytest.mark.parametrize("late_s", PHASES_S)
def test_a_tone_that_fades_does_not(late_s: float) -> None:
    found = edges(late_s, fade_s=0.04)
    assert [each.begins for each in found] == [False, True]
    assert max(each.click for each in found) < CLICK / 4
