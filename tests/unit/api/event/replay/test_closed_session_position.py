"""What is kept of a closed session."""

from __future__ import annotations

import json

from onair_api.access.target import Target
from onair_api.event.event import Event, Position
from onair_api.event.replay.closed_session_position import ClosedSession, ResumedSession
from onair_api.event.subscription import Subscription

CLOSED = ClosedSession(
    {"Project": Position(12, 1), "channel@epoch": Position(7)},
    [Subscription("a*", Target(None, "p"), Target("c", "p")), Subscription("*", Target(), Target())],
    1_700_000_000.5,
)


def event(number: int, part: int = 0, source: str = "Project", name: str = "a") -> Event:
    return Event(name, b"", Target("c", "p"), source, Position(number, part), ())


def test_it_survives_as_json() -> None:
    assert ClosedSession.from_json(json.loads(json.dumps(CLOSED.json())), CLOSED.at) == CLOSED


def test_one_that_a_replica_of_an_earlier_version_kept_is_read() -> None:
    value = CLOSED.json()
    del value["lost"]
    assert ClosedSession.from_json(value, CLOSED.at) == CLOSED


def test_a_resumed_session_has_what_its_replica_gave_it_before() -> None:
    only_a = ClosedSession(CLOSED.positions, CLOSED.subscriptions[:1], CLOSED.at)
    resumed = ResumedSession(only_a, until=0.0)
    assert resumed.has(event(11))
    assert resumed.has(event(12, 1))
    assert not resumed.has(event(12, 2)), "a later part of the same change"
    assert not resumed.has(event(1, source="Layout")), "a source that it never followed"
    assert not resumed.has(event(11, name="b")), "it did not subscribe to this"
