"""What is kept for sessions that reconnect, and whether that is all of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.access.audiences import AudienceKey, owner_key, project_key
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


QUIET, LOUD, GUESTS = owner_key("s", "quiet"), owner_key("s", "loud"), project_key("s", "uid of the loud")


def event_of(number: int, *audiences: AudienceKey, size: int = 10) -> Event:
    return Event("e", b"x" * size, Target(), "s", Position(number), audiences)


def kept_of(buffer: ReplayBuffer, *audiences: AudienceKey) -> list[int]:
    found = buffer.find(audiences, Subscription("*", Target(), Target()))
    return [each.position.number for each in found.after({"s": Position(0)})]


@pytest.mark.parametrize("buffer", [ReplayBuffer(60, 1000, 100), ReplayBuffer(60, 10, 1_000_000)])
def test_who_has_the_most_loses_their_oldest(buffer: ReplayBuffer) -> None:
    buffer.start("s", Position(0), 0.0)
    for number in range(1, 101):
        buffer.add(event_of(number, QUIET) if number in (1, 50) else event_of(number, LOUD, GUESTS), 1.0)
    assert kept_of(buffer, QUIET) == [1, 50]
    assert kept_of(buffer, LOUD) == kept_of(buffer, GUESTS) == list(range(93, 101))
    for audience, covered in ((QUIET, 0), (LOUD, 92), (GUESTS, 92)):
        assert buffer.covers("s", Position(covered), 1.0, [audience])
        assert not covered or not buffer.covers("s", Position(covered - 1), 1.0, [audience])
    assert not buffer.covers("s", Position(91), 1.0), "not for everybody"


def test_what_was_evicted_of_some_is_gone_for_all_once_it_is_old() -> None:
    buffer = ReplayBuffer(60, 5, 1000)
    buffer.start("s", Position(0), 0.0)
    buffer.add(event_of(1, QUIET), 1.0)
    for number in range(2, 12):
        buffer.add(event_of(number, LOUD), 2.0)
    assert kept_of(buffer, QUIET, LOUD) == [1, 8, 9, 10, 11]
    assert buffer.covers("s", Position(0), 2.0, [QUIET])
    buffer.add(event_of(12, LOUD), 61.5)
    assert not buffer.covers("s", Position(0), 61.5, [QUIET])
    assert buffer.covers("s", Position(1), 61.5, [QUIET])
    buffer.add(event_of(13, LOUD), 200.0)
    assert kept_of(buffer, QUIET, LOUD) == [13]
    assert not buffer.covers("s", Position(11), 200.0, [QUIET])
    assert not buffer._evicted_of, "nothing is kept of who lost something once"
    assert len(buffer._order) == 1


def test_what_was_too_large_to_be_kept_is_missed_for_as_long_as_anything() -> None:
    buffer = ReplayBuffer(60, 10, 100)
    for source in ("s", "t"):
        buffer.start(source, Position(0), 0.0)
    buffer.add(event_of(1, LOUD, size=101), 1.0)
    for now in (2.0, 100.0, 200.0):
        buffer.add(event(int(now), "t"), now)
        assert not buffer.covers("s", Position(0), now, [LOUD])
        assert buffer.covers("s", Position(1), now, [LOUD])
    assert not buffer._evicted_of


def test_little_is_kept_of_what_was_evicted() -> None:
    buffer = ReplayBuffer(60, 10, 10_000)
    buffer.start("s", Position(0), 0.0)
    buffer.add(event_of(1, QUIET), 1.0)
    for number in range(2, 1000):
        buffer.add(event_of(number, LOUD), 1.0)
    assert len(buffer._order) <= 31
    assert kept_of(buffer, QUIET, LOUD) == [1, *range(991, 1000)]


def test_a_source_that_goes_back_takes_nothing_of_others_with_it() -> None:
    buffer = ReplayBuffer(60, 10, 10_000)
    for source in ("s", "t"):
        buffer.start(source, Position(0), 0.0)
    for number in range(1, 21):
        buffer.add(event(number, "st"[number % 2]), 1.0)
    buffer.go_back("s", Position(5), 2.0)
    assert numbers(buffer, s=0, t=0) == [11, 13, 15, 17, 19]
    assert not buffer.covers("t", Position(8), 2.0)
    assert buffer.covers("s", Position(5), 10.0), "what it lost before is not of now"
    for number in range(21, 31):
        buffer.add(event(number, "t"), 3.0)
    assert numbers(buffer, t=0) == list(range(21, 31))


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 40), st.integers(0, 30)), max_size=60))
def test_each_is_told_of_what_they_lost_and_of_nothing_else(added: list[tuple[str, int, int]]) -> None:
    buffer = ReplayBuffer(100, 12, 200)
    buffer.start("s", Position(0), 0.0)
    now, of_each = 0.0, {name: list[int]() for name in "abcd"}
    for number, (name, size, passed) in enumerate(added, 1):
        now += passed
        of_each[name].append(number)
        buffer.add(event_of(number, owner_key("s", name), size=size), now)
    for name, everything in of_each.items():
        kept = kept_of(buffer, owner_key("s", name))
        assert kept == everything[len(everything) - len(kept) :]
        for asked in range(len(added) + 1):
            if buffer.covers("s", Position(asked), now, [owner_key("s", name)]):
                assert [each for each in everything if each > asked] == [
                    each for each in kept if each > asked
                ]


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
