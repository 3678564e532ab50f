"""Which connections are closed, where there are too many."""

from __future__ import annotations

from typing import Any, cast

import pytest

from onair_api.connection.idle_connections import Connection, IdleConnections

MOST = 3


class FakeConnection:
    """A connection, which is its own transport."""

    def __init__(self) -> None:
        self.transport: Any = self
        self.is_closed = False

    def abort(self) -> None:
        self.is_closed = True


@pytest.fixture
def idle() -> IdleConnections:
    return IdleConnections(MOST)


def opened(idle: IdleConnections, count: int) -> list[FakeConnection]:
    made = [FakeConnection() for _ in range(count)]
    for each in made:
        idle.opened(cast(Connection, each))
    return made


def closed(connections: list[FakeConnection]) -> list[int]:
    return [at for at, each in enumerate(connections) if each.is_closed]


def test_the_oldest_goes_first(idle: IdleConnections) -> None:
    assert closed(opened(idle, MOST)) == []
    assert closed(opened(idle, MOST + 2)) == [0, 1]


def test_who_has_asked_stays_before_who_never_did(idle: IdleConnections) -> None:
    served, *silent = opened(idle, MOST)
    idle.asked(served)
    idle.answered(served)
    others = opened(idle, 10)
    assert not served.is_closed
    assert closed(silent) == [0, 1]
    assert closed(others) == list(range(8))


def test_a_new_one_has_time_to_ask_where_others_are_kept(idle: IdleConnections) -> None:
    kept = opened(idle, MOST)
    for each in kept:
        idle.asked(each)
        idle.answered(each)
    for _ in range(MOST):
        (new,) = opened(idle, 1)
        assert not new.is_closed
        idle.asked(new)
        idle.answered(new)
        assert not new.is_closed
    assert closed(kept) == list(range(MOST))


def test_whose_last_response_is_longest_ago_goes_first(idle: IdleConnections) -> None:
    served = opened(idle, MOST)
    for each in (*served, served[0]):
        idle.asked(each)
        idle.answered(each)
    another = FakeConnection()
    idle.asked(another)
    idle.answered(another)
    assert closed(served) == [1]


def test_whoever_is_served_counts_for_nothing_and_is_not_closed(idle: IdleConnections) -> None:
    streaming = opened(idle, MOST)
    for each in streaming:
        idle.asked(each)
    opened(idle, 10 * MOST)
    assert closed(streaming) == []


def test_who_is_gone_counts_no_more(idle: IdleConnections) -> None:
    for each in opened(idle, MOST):
        idle.closed(each)
    assert closed(opened(idle, MOST)) == []
