"""Exact times of frames, from rounded ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from onair_crds.media.frame_clock import TICKS_PER_MS, TICKS_PER_S, FrameClock, audio_step, video_step
from onair_encoder.encode.codec_options import encoded_rate

RATES = (1, 5, 7.5, 10, 12, 12.5, 13, 14.985, 15, 20, 23.976, 24, 25, 29.5, 29.97, 30, 48, 50, 59.94, 60)


@pytest.mark.parametrize(
    ("framerate", "exact"),
    [
        (30.0, Fraction(30)),
        (29.97, Fraction(30000, 1001)),
        (23.976, Fraction(24000, 1001)),
        (59.94, Fraction(60000, 1001)),
        (25.0, Fraction(25)),
        (119.88, Fraction(120000, 1001)),
        (14.99, Fraction(15000, 1001)),
        (30000 / 1001, Fraction(30000, 1001)),
        (12.5, Fraction(25, 2)),
        *((float(encoded_rate(rate)), encoded_rate(rate)) for rate in RATES),
    ],
)
def test_frames_are_evenly_spaced_for_a_day(framerate: float, exact: Fraction) -> None:
    clock = FrameClock()
    clock.step = video_step(framerate)
    day = range(0, int(86_400 * exact), 997)
    for number in day:
        found = clock.ticks(round(number * 1000 / exact))
        assert abs(found - number * TICKS_PER_S / exact) <= 1


def test_audio_is_evenly_spaced() -> None:
    clock = FrameClock()
    clock.step = audio_step(3)
    times = [clock.ticks(round(number * 1024 / 48)) for number in range(1000)]
    assert {b - a for a, b in pairwise(times)} == {576_000}


def test_where_timestamps_leap_the_clock_follows() -> None:
    clock = FrameClock()
    clock.step = video_step(25.0)
    assert [clock.ticks(at) // TICKS_PER_MS for at in (0, 40, 95, 135, 1_000_017)] == [
        0,
        40,
        95,
        135,
        1_000_017,
    ]


@pytest.mark.parametrize("framerate", [0.0, -1.0, float("nan"), float("inf"), 1e9])
def test_without_a_known_rate_times_stay_as_they_are(framerate: float) -> None:
    clock = FrameClock()
    clock.step = video_step(framerate)
    assert [clock.ticks(at) for at in (0, 33, 67)] == [at * TICKS_PER_MS for at in (0, 33, 67)]
    assert audio_step(15) is None
