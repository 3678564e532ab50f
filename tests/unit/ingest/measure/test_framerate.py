"""The frame rate of a video, from the times of its frames."""

from __future__ import annotations

import random

import pytest

from onair_ingest.measure.framerate import framerate_of

CLOCK_HZ = 90_000


def in_milliseconds(framerate: float, frames: int, start: int = 0) -> list[int]:
    """As RTMP has them."""
    return [(start + round(n * 1000 / framerate) * 90) % (1 << 32) for n in range(frames)]


@pytest.mark.parametrize("framerate", [15, 23.976, 25, 29.97, 30, 50, 59.94, 60])
def test_rates_are_measured_over_two_seconds(framerate: float) -> None:
    assert framerate_of(in_milliseconds(framerate, round(2 * framerate)), CLOCK_HZ) == pytest.approx(
        framerate, rel=0.002
    )


@pytest.mark.parametrize("framerate", [24, 25, 30, 50, 60])
def test_whole_rates_stay_whole_whatever_was_rounded(framerate: int) -> None:
    assert {framerate_of(in_milliseconds(framerate, 2 * framerate, at), CLOCK_HZ) for at in range(40)} == {
        framerate
    }
    for first_ms in range(40):
        times = [round(first_ms + 0.5 + n * 1000 / framerate) * 90 for n in range(first_ms, 2 * framerate)]
        assert framerate_of(times, CLOCK_HZ) == framerate


@pytest.mark.parametrize("framerate", [23.976, 29.97, 59.94])
def test_rates_of_television_are_not_taken_for_whole_ones(framerate: float) -> None:
    assert framerate_of(in_milliseconds(framerate, round(2 * framerate)), CLOCK_HZ) == pytest.approx(
        framerate, abs=0.02
    )


def test_frames_may_come_in_any_order() -> None:
    times = in_milliseconds(30, 60)
    random.Random(1).shuffle(times)
    assert framerate_of(times, CLOCK_HZ) == pytest.approx(30, rel=0.002)


def test_timestamps_wrap_round() -> None:
    assert framerate_of(in_milliseconds(30, 60, (1 << 32) - 90_000), CLOCK_HZ) == pytest.approx(30, rel=0.002)


def test_time_that_jumps_and_frames_that_are_lost_do_not_count() -> None:
    times = in_milliseconds(30, 30) + in_milliseconds(30, 30, 3600 * CLOCK_HZ)
    assert framerate_of(times, CLOCK_HZ) == pytest.approx(30, rel=0.01)


def test_too_few_frames_are_no_measure() -> None:
    assert framerate_of([], CLOCK_HZ) is None
    assert framerate_of(in_milliseconds(30, 4), CLOCK_HZ) is None
    assert framerate_of([5, 5, 5, 5, 5, 5], CLOCK_HZ) is None
