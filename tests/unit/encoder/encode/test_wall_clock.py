"""A wall clock that is set is noticed, one that is slewed is not."""

from __future__ import annotations

import time

import pytest
from tests.support.settable_clock import SettableClock

from onair_encoder.encode.wall_clock import LEAST_STEP_S, ClockSteps, wall_ahead_s


@pytest.mark.parametrize("by_s", [0.25, -0.25, 3600.0, -86400.0])
def test_a_step_is_told_once(by_s: float) -> None:
    wall, monotonic = SettableClock(1_000_000.0), SettableClock(50.0)
    steps = ClockSteps(lambda: wall() - monotonic())
    told = []
    for step_s in (0.0, by_s, 0.0):
        wall.now += 0.25 + step_s
        monotonic.now += 0.25
        told.append(steps.look())
    assert told == pytest.approx([0.0, by_s, 0.0])


def test_a_clock_that_is_slewed_for_a_day_has_no_step() -> None:
    wall, monotonic = SettableClock(1_000_000.0), SettableClock(50.0)
    steps = ClockSteps(lambda: wall() - monotonic())
    for _ in range(24 * 60):
        wall.now += 60 * 1.0005
        monotonic.now += 60
        assert steps.look() == 0.0
    assert wall() - 1_000_000.0 - (monotonic() - 50.0) > LEAST_STEP_S


def test_the_wall_clock_is_ahead_by_what_both_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_000_050.0)
    monkeypatch.setattr(time, "monotonic", lambda: 50.0)
    assert wall_ahead_s() == 1_000_000.0
