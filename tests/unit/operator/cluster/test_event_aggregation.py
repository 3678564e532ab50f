"""Many alike Events are one."""

from __future__ import annotations

import datetime as dt
from itertools import count

import pytest
from tests.support.worlds import NOW, destination

from onair_operator.cluster import event_aggregation as module
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.event_aggregation import COMBINED, MOST_ALIKE, WINDOW, EventAggregation


def aggregation() -> EventAggregation:
    numbers = count(1)
    return EventAggregation(lambda: f"{next(numbers)}")


def event(message: str = "refused", reason: str = "Disconnected", name: str = "main") -> ResourceEvent:
    return ResourceEvent(destination(name), reason, message, warning=True)


def test_flapping_is_two_events_that_are_counted() -> None:
    known, now = aggregation(), NOW
    names = set()
    for number in range(1, 17):
        now += dt.timedelta(seconds=2)
        down, up = known.add(event(), now), known.add(event("media flows", "Connected"), now)
        names |= {down.name, up.name}
        assert (down.count, up.count) == (number, number)
        assert down.last == now
    assert names == {"main.1", "main.2"}


def test_other_resources_and_reasons_have_events_of_their_own() -> None:
    known = aggregation()
    different = [event(), event(reason="NotConnected"), event(name="second"), event("timed out")]
    assert [known.add(each, NOW).count for each in different] == [1, 1, 1, 1]


def test_texts_that_differ_are_combined_after_the_first_few() -> None:
    known = aggregation()
    series = [known.add(event(f"refused port {number}"), NOW) for number in range(MOST_ALIKE + 5)]
    assert len({each.name for each in series}) == MOST_ALIKE + 1
    assert series[-1].message == f"{COMBINED}refused port {MOST_ALIKE + 4}"
    assert series[-1].count == 5
    assert known.add(event("refused port 0"), NOW).count == 2, "what repeats in word is counted still"


def test_a_series_ends_with_a_silence() -> None:
    known = aggregation()
    first, late = known.add(event(), NOW), known.add(event(), NOW + WINDOW)
    assert (first.name, first.count) != (late.name, late.count)
    assert late.count == 1


def test_only_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SUBJECTS", 2)
    known = aggregation()
    for name in ("a", "b", "a", "c"):
        known.add(event(name=name), NOW)
    assert known.add(event(name="a"), NOW).count == 3
    assert known.add(event(name="b"), NOW).count == 1, "forgotten"
