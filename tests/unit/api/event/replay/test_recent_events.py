"""What is kept for sessions that reconnect, and whether that is all of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onair_api.access.audiences import owner_key
from onair_api.access.target import Target
from onair_api.event.event import Event, Position
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.subscription import Subscription

KEY = owner_key("s", "u")


def event(number: int, source: str = "s", size: int = 10) -> Event:
    return Event(f"e{number}", b"x" * size, Target(), source, Position(number), (KEY,))


def numbers(buffer: ReplayBuffer, **positions: int) -> list[int]:
    found = buffer.find((KEY,), Subscription("*", Target(), Target()))
    return [e.position.number for e in found.after({s: Position(p) for s, p in positions.items()})]


@given(st.lists(st.integers(1, 5), max_size=40), st.integers(1, 20), st.integers(0, 60))
def test_what_is_covered_is_complete(steps: list[int], most: int, asked: int) -> None:
    buffer = ReplayBuffer(1000, most, 10_000)
    buffer.start("s", Position(0), 0.0)
    numbers_added = []
    number = 0
    for step in steps:
        number += step
        numbers_added.append(number)
        buffer.add(event(number), float(number))
    expected = [each for each in numbers_added if each > asked]
    if buffer.covers("s", Position(asked), 0.0):
        assert numbers(buffer, s=asked) == expected
    else:
        assert numbers(buffer, s=asked) != expected


def test_bounds_by_age_number_and_bytes() -> None:
    for buffer, size in (
        (ReplayBuffer(10, 100, 1000), 1),
        (ReplayBuffer(1000, 5, 1000), 1),
        (ReplayBuffer(1000, 100, 50), 10),
    ):
        buffer.start("s", Position(0), 0.0)
        for number in range(1, 31):
            buffer.add(event(number, size=size), number * 2.0)
        kept = numbers(buffer, s=0)
        assert kept == list(range(31 - len(kept), 31))
        assert 5 <= len(kept) <= 6
        assert not buffer.covers("s", Position(kept[0] - 2), 0.0)
        assert buffer.covers("s", Position(kept[0] - 1), 0.0)


def test_a_quiet_source_is_covered_by_a_buffer_that_started_before_the_session_closed() -> None:
    buffer = ReplayBuffer(60, 10, 1000)
    buffer.start("s", Position(500), 100.0)
    assert not buffer.covers("s", Position(400), 100.5)
    assert buffer.covers("s", Position(400), 102.0)
    assert buffer.covers("s", Position(500), 50.0)
    assert not buffer.covers("unknown", Position(500), 102.0)


def test_a_source_that_went_back_is_covered_from_where_it_was_on() -> None:
    buffer = ReplayBuffer(60, 10, 1000)
    buffer.go_back("s", Position(50), 0.0)
    assert buffer.position("s") is None, "it was not followed"
    buffer.start("s", Position(0), 0.0)
    buffer.add(event(90), 1.0)
    buffer.go_back("s", Position(50), 2.0)
    assert buffer.position("s") == Position(50)
    assert not buffer.covers("s", Position(50), 2.5), "it may have been there before"
    assert not buffer.covers("s", Position(90), 10.0), "another replica has not noticed yet"
    assert buffer.covers("s", Position(50), 10.0)
    buffer.add(event(60), 11.0)
    assert numbers(buffer, s=50) == [60], "nothing of before is replayed"
    assert buffer.covers("s", Position(60), 12.0)
    buffer.add(event(91), 13.0)
    assert buffer.covers("s", Position(91), 14.0)


def test_an_event_that_arrives_twice_is_replayed_once() -> None:
    buffer = ReplayBuffer(60, 10, 1000)
    buffer.start("s", Position(0), 0.0)
    for number in (1, 2, 3, 2, 3, 4):
        buffer.add(event(number), 1.0)
    assert numbers(buffer, s=1) == [2, 3, 4]


def test_what_was_lost_stays_so_while_older_events_go() -> None:
    buffer = ReplayBuffer(1000, 2, 10_000)
    buffer.start("s", Position(0), 0.0)
    for number in (1, 2):
        buffer.add(event(number), float(number))
    buffer.lose("s", Position(3))
    assert not buffer.covers("s", Position(2), 3.0)
    buffer.add(event(4), 4.0)
    assert not buffer.covers("s", Position(2), 4.0)
    assert buffer.covers("s", Position(3), 4.0)
