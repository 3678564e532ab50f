"""Which projects publish the same stream, and which of them are told when that changes."""

from __future__ import annotations

import itertools

from tests.support.settable_clock import SettableClock

from onair_operator.cluster.claimed_streams import SETTLING_S, Claimant, ClaimedStreams


def test_two_projects_that_publish_one_stream_are_rivals_until_one_ends() -> None:
    streams = ClaimedStreams()
    assert streams.claim("one", {"main": "x", "backup": "y"}) == set()
    assert streams.claim("two", {"main": "z", "other": "x"}) == {"one", "two"}
    assert streams.rivals("one") == {"main": Claimant("two", "other")}
    assert streams.rivals("two") == {"other": Claimant("one", "main")}
    assert streams.claim("one", {"main": "w", "backup": "y"}) == {"one", "two"}
    assert (streams.rivals("one"), streams.rivals("two")) == ({}, {})


def test_what_stays_the_same_concerns_nobody() -> None:
    streams = ClaimedStreams()
    streams.claim("one", {"main": "x"})
    streams.claim("two", {"main": "x"})
    assert streams.claim("two", {"main": "x", "another": "y"}) == set()


def test_destinations_of_one_project_are_no_rivals() -> None:
    streams = ClaimedStreams()
    streams.claim("one", {"main": "x", "again": "x"})
    assert streams.rivals("one") == {}


def test_a_project_that_is_over_is_forgotten() -> None:
    streams = ClaimedStreams()
    streams.claim("one", {"main": "x"})
    streams.claim("one", {})
    assert vars(streams)["_of"] == {}
    assert dict(vars(streams)["_claimants"]) == {}


def test_of_many_alike_those_that_are_told_already_are_left_alone() -> None:
    streams = ClaimedStreams()
    affected = [len(streams.claim(f"show-{each:03}", {"main": "x"})) for each in range(100)]
    assert affected == [0, 2, *itertools.repeat(1, 98)]
    assert streams.claim("show-050", {}) == set()
    assert len(streams.claim("show-000", {})) == 99, "whom the others name"
    assert streams.rivals("show-001") == {"main": Claimant("show-002", "main")}


def test_ten_thousand_are_compared_by_look_ups() -> None:
    """Each stream is found by itself: what a project publishes is not held against every other."""
    streams = ClaimedStreams()
    affected = set()
    for each in range(5000):
        affected |= streams.claim(f"show-{each}", {"a": f"stream-{each}", "b": f"other-{each}"})
    assert affected == set()
    assert max(len(each) for each in vars(streams)["_claimants"].values()) == 1
    assert streams.claim("late", {"main": "stream-4321"}) == {"late", "show-4321"}


def test_not_all_rivals_are_known_at_first() -> None:
    clock = SettableClock(100.0)
    streams = ClaimedStreams(clock)
    assert streams.settling_s == SETTLING_S
    clock.now += SETTLING_S
    assert streams.settling_s == 0.0
