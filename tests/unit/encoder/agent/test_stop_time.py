"""A wall clock that is set while a programme is on air neither ends it nor keeps it on air."""

from __future__ import annotations

import datetime as dt

import pytest
from tests.support.clock_pair import ClockPair

from onair_crds.contract.times import format_time
from onair_encoder.agent import stop_time as stop_time_module
from onair_encoder.agent.stop_time import StopTime


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> ClockPair:
    clocks = ClockPair()
    monkeypatch.setattr(stop_time_module, "time", clocks)
    return clocks


def after(clocks: ClockPair, seconds: float) -> str:
    return format_time(dt.datetime.fromtimestamp(clocks.time() + seconds, dt.UTC))


@pytest.mark.parametrize("step_s", [0.0, 9 * 3600.0, -9 * 3600.0])
def test_it_is_reached_when_that_time_has_passed(clocks: ClockPair, step_s: float) -> None:
    stop_time, stop_at = StopTime(), after(clocks, 3600)
    stop_time.want(stop_at)
    clocks.set_wall(step_s)
    # The operator sends the programme again with each change of it
    stop_time.want(stop_at)
    assert not stop_time.reached
    clocks.go_on(3599)
    assert not stop_time.reached
    clocks.go_on(1.1)
    assert stop_time.reached


def test_another_one_counts_and_none_is_never_reached(clocks: ClockPair) -> None:
    stop_time = StopTime()
    assert not stop_time.reached
    stop_time.want(after(clocks, 3600))
    stop_time.want(after(clocks, -1))
    assert stop_time.reached
    stop_time.want(after(clocks, 60))
    assert not stop_time.reached
    stop_time.want(None)
    clocks.go_on(7200)
    assert not stop_time.reached
