"""The bounded queue of a slow reader."""

from __future__ import annotations

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
        assert not backlog.unsent().events


def test_it_knows_whether_a_report_of_a_loss_still_waits() -> None:
    backlog = Backlog(2, 1000)
    for number in range(3):
        assert not backlog.unsent().loss
        backlog.add(b"x", event(number), lambda: b"LOST")
    assert backlog.unsent().loss
    assert backlog.take(4) == b"LOST"
    assert not backlog.unsent().loss
    backlog.add(b"LOST", None, lambda: b"LOST", is_loss=True)
    assert backlog.unsent().loss


def test_events_that_wait_are_known_and_replies_are_not_counted_among_them() -> None:
    backlog = Backlog(10, 1000)
    backlog.add(b"reply", None, lambda: b"")
    backlog.add(b"event", event(1), lambda: b"")
    assert [each.name for each in backlog.unsent().events] == ["e1"]
    assert backlog.take(1000) == b"replyevent"
    assert not backlog
