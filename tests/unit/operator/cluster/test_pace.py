"""Looks that are asked for many times a second are at most one an interval, the first at once."""

from __future__ import annotations

from onair_operator.cluster.pace import MANY, Pace


def test_the_first_look_is_at_once_the_next_one_after_the_interval() -> None:
    now = [100.0]
    pace = Pace(1.0, now=lambda: now[0])
    assert pace.delay_s("show") == 0.0
    now[0] += 0.25
    assert pace.delay_s("show") == 0.75
    now[0] += 0.25
    assert pace.delay_s("show") == 0.5, "the same one"
    assert pace.delay_s("other") == 0.0
    now[0] += 1.0
    assert pace.delay_s("show") == 0.5
    now[0] += 10.0
    assert pace.delay_s("show") == 0.0


def test_names_that_are_quiet_are_forgotten() -> None:
    now = [0.0]
    pace = Pace(1.0, now=lambda: now[0])
    for number in range(3 * MANY):
        now[0] += 1.0
        pace.delay_s(f"show-{number}")
    assert len(pace._due) <= MANY + 1
