"""What is kept for those who reconnect, and whether that is all of it."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from onair_api.access.target import Target
from onair_api.event.event import Event, Format, Position
from onair_api.event.replay.buffer import Ring
from onair_api.event.stream.backlog import Backlog


def event(number: int, source: str = "s", size: int = 10) -> Event:
    return Event(f"e{number}", b"x" * size, Target(), source, Position(number), ())


def numbers(ring: Ring, **positions: int) -> list[int]:
    return [e.position.number for e in ring.after({s: Position(p) for s, p in positions.items()})]


@given(st.lists(st.integers(1, 5), max_size=40), st.integers(1, 20), st.integers(0, 60))
def test_what_is_covered_is_complete(steps: list[int], most: int, asked: int) -> None:
    ring = Ring(1000, most, 10_000)
    ring.begin("s", Position(0), 0.0)
    told = []
    number = 0
    for step in steps:
        number += step
        told.append(number)
        ring.add(event(number), float(number))
    expected = [each for each in told if each > asked]
    if ring.covers("s", Position(asked), 0.0):
        assert numbers(ring, s=asked) == expected
    else:
        assert numbers(ring, s=asked) != expected


def test_bounds_by_age_number_and_bytes() -> None:
    for ring, size in ((Ring(10, 100, 1000), 1), (Ring(1000, 5, 1000), 1), (Ring(1000, 100, 50), 10)):
        ring.begin("s", Position(0), 0.0)
        for number in range(1, 31):
            ring.add(event(number, size=size), number * 2.0)
        kept = numbers(ring, s=0)
        assert kept == list(range(31 - len(kept), 31))
        assert 5 <= len(kept) <= 6
        assert not ring.covers("s", Position(kept[0] - 2), 0.0)
        assert ring.covers("s", Position(kept[0] - 1), 0.0)


def test_a_quiet_source_is_covered_by_a_ring_that_began_before_the_departure() -> None:
    ring = Ring(60, 10, 1000)
    ring.begin("s", Position(500), 100.0)
    assert not ring.covers("s", Position(400), 100.5)
    assert ring.covers("s", Position(400), 102.0)
    assert ring.covers("s", Position(500), 50.0)
    assert not ring.covers("unknown", Position(500), 102.0)


def test_what_is_heard_twice_is_given_once() -> None:
    ring = Ring(60, 10, 1000)
    ring.begin("s", Position(0), 0.0)
    for number in (1, 2, 3, 2, 3, 4):
        ring.add(event(number), 1.0)
    assert numbers(ring, s=1) == [2, 3, 4]


def test_a_backlog_starts_anew_with_a_note_of_its_loss() -> None:
    def lost() -> bytes:
        return b"LOST"

    for backlog in (Backlog(3, 1000), Backlog(100, 30)):
        for number in range(10):
            backlog.add(b"%09d " % number, event(number), lost)
        taken: list[Any] = []
        while backlog:
            taken += backlog.take(1).split()
        assert taken[0] == b"LOST"
        assert [int(each) for each in taken[1:]] == list(range(11 - len(taken), 10))
        assert backlog.events() == []


def test_what_was_delivered_is_kept_once() -> None:
    made = event(1)
    first = made.frame(Format.NDJSON)
    assert made.frame(Format.NDJSON) is first
    made.delivered()
    assert not made._frames
    assert made.frame(Format.NDJSON) == first


def test_a_message_is_one_line_for_every_client() -> None:
    text = "\u0085 \u2028 \u2029 ü"
    for format_ in (Format.NDJSON, Format.SSE):
        frame = format_.frame(orjson.dumps({"a": text})).decode()
        assert len(frame.strip().splitlines()) == 1
        assert orjson.loads(frame.removeprefix("data: ")) == {"a": text}
    assert "ü" in frame
