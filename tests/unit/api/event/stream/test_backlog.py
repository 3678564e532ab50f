"""The bounded queue of a slow reader."""

from __future__ import annotations

import pytest

from onair_api.access.target import Target
from onair_api.event.event import Event, Position
from onair_api.event.stream.backlog import Backlog


def event(number: int) -> Event:
    return Event(f"e{number}", b"x", Target(), "s", Position(number), ())


def test_an_overflow_drops_everything_and_reports_the_loss_first() -> None:
    for backlog in (Backlog(3, 1000), Backlog(100, 30)):
        for number in range(10):
            backlog.add(b"%09d " % number, event(number), lambda: b"LOST")
        taken: list[bytes] = []
        while backlog:
            taken += backlog.take(1).split()
        assert taken[0] == b"LOST"
        assert [int(each) for each in taken[1:]] == list(range(11 - len(taken), 10))
        backlog.sent()
        assert backlog.withdraw() == ([], False)


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_a_report_of_a_loss_is_withdrawn_until_it_is_sent(taken: int) -> None:
    backlog = Backlog(2, 1000)
    for number in range(3):
        backlog.add(b"x", event(number), lambda: b"LOST")
    for _ in range(taken):
        backlog.take(1)
    assert backlog.withdraw().loss is (taken < 2)


def test_a_report_of_another_loss_is_one_too() -> None:
    backlog = Backlog(10, 1000)
    backlog.add(b"LOST", None, lambda: b"LOST", is_loss=True)
    assert backlog.withdraw().loss
    assert not backlog.withdraw().loss


def test_events_are_withdrawn_and_replies_are_not() -> None:
    backlog = Backlog(10, 1000)
    for frame, waits in ((b"first", event(1)), (b"reply", None), (b"second", event(2))):
        backlog.add(frame, waits, lambda: b"")
    assert backlog.take(1) == b"first"
    assert [each.name for each in backlog.withdraw().events] == ["e1", "e2"]
    assert backlog.take(1000) == b"reply"
    assert not backlog
