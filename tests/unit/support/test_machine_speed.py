"""Which failures may be the machine's."""

from __future__ import annotations

import pytest
from tests.support import machine_speed
from tests.support.machine_speed import (
    BUSY_ROUNDS,
    LATE_FROM_S,
    SLOW_FROM_S,
    failed_as_it_is_slow,
    is_slow,
)


@pytest.mark.parametrize(
    ("work_s", "is_machines"), [(LATE_FROM_S - 0.001, False), (LATE_FROM_S, True), (SLOW_FROM_S, True)]
)
def test_what_failed_is_a_machines_that_is_slow(
    work_s: float, is_machines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_speed, "work_s", lambda: work_s)
    assert failed_as_it_is_slow(AssertionError()) is is_machines


@pytest.mark.parametrize(("work_s", "slow"), [(LATE_FROM_S, False), (SLOW_FROM_S, True)])
def test_fewer_run_side_by_side_where_it_is_slower_still(
    work_s: float, slow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_speed, "work_s", lambda: work_s)
    assert is_slow() is slow


def test_one_bad_moment_makes_no_machine_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter([SLOW_FROM_S, LATE_FROM_S / 2, SLOW_FROM_S])
    monkeypatch.setattr(machine_speed, "work_s", lambda: next(rounds))
    assert not is_slow(LATE_FROM_S)


@pytest.mark.parametrize(
    ("slow_rounds", "is_machines"), [(1, False), (BUSY_ROUNDS // 2, False), (BUSY_ROUNDS // 2 + 1, True)]
)
def test_a_core_that_is_slow_most_of_the_time_is_slow(
    slow_rounds: int, is_machines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = iter([SLOW_FROM_S] * slow_rounds + [LATE_FROM_S / 2] * (BUSY_ROUNDS - slow_rounds))
    monkeypatch.setattr(machine_speed, "work_s", lambda: next(rounds))
    assert failed_as_it_is_slow(AssertionError()) is is_machines


def test_nothing_is_measured_for_what_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than most tests."""
    monkeypatch.setattr(machine_speed, "work_s", lambda: pytest.fail("it measures"))
    assert not failed_as_it_is_slow(None)
