"""How pieces of sound are put together that come with rounded times."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.media.live_view import SAMPLE_RATE, LiveRecording, beginning
from tests.support.scene.camera import TONE_HZ, tone_level

PIECE = 1024


@pytest.mark.parametrize("first_s", [0.0, 0.007, 0.0133])
def test_rounded_times_take_nothing_from_a_tone(first_s: float) -> None:
    tone = np.sin(2 * np.pi * TONE_HZ * np.arange(48 * PIECE) / SAMPLE_RATE).astype(np.float32) / np.float32(
        4
    )
    recording, until_s = LiveRecording(), -1.0
    for piece in tone.reshape(-1, PIECE):
        at_s = beginning(round(first_s + len(recording.sounds) * PIECE / SAMPLE_RATE, 3), until_s)
        recording.sounds.append((at_s, piece))
        until_s = at_s + PIECE / SAMPLE_RATE
    assert tone_level(recording.sound(0.1, 0.9)) == pytest.approx(0.25, rel=0.01)


def test_a_gap_stays_one() -> None:
    assert beginning(5.1, 5.0) == 5.1
    assert beginning(4.9, 5.0) == 4.9


def test_recordings_are_told_apart_even_while_they_are_alike() -> None:
    assert LiveRecording() != LiveRecording()
