"""Many alike Events are one."""

from __future__ import annotations

import datetime as dt
from itertools import count

import pytest
from tests.support.worlds import NOW, destination

from onair_operator.cluster import event_aggregation as module
from onair_operator.cluster import event_budget
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.event_aggregation import COMBINED, MOST_ALIKE, WINDOW, EventAggregation
from onair_operator.cluster.event_budget import NEW_BURST, NEW_PER_S


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


def test_a_flap_of_many_destinations_makes_ever_fewer_new_events() -> None:
    """Each keeps its series for as long as it flaps, however many others do."""
    known, now = EventAggregation(), NOW
    names = [f"d{number}" for number in range(2500)]
    flap = [each for name in names for each in (event(name=name), event("media flows", "Connected", name))]
    new = []
    for _ in range(10):
        new.append(sum(known.add(each, now).count == 1 for each in flap))
        now += dt.timedelta(seconds=30)
    assert new[0] <= NEW_BURST + 2
    assert all(each <= 30 * NEW_PER_S + 1 for each in new[1:])
    assert new[-1] == 0, "all have their own"


def test_beyond_the_bound_further_ones_of_a_reason_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SERIES", 2)
    known = aggregation()
    for name in ("a", "b", "a"):
        known.add(event(name=name), NOW)
    assert known.add(event(name="a"), NOW).count == 3
    assert known.add(event(name="b"), NOW).count == 2, "what goes on is not forgotten"
    shared = [known.add(event(name=name), NOW) for name in ("c", "d", "c")]
    assert {each.name for each in shared} == {"c.3"}
    assert [each.count for each in shared] == [1, 2, 3]
    assert shared[1].message == f"{COMBINED}Destination d: refused"
    assert known.add(event(reason="NotConnected", name="c"), NOW).name == "c.4"
    later = NOW + WINDOW
    assert known.add(event(name="d"), later).name == "d.5", "those that have ended make room"
    assert known.add(event(name="e"), later).name == "e.6"
    assert known.add(event(name="f"), later).name == "f.7", "what is shared ends with a silence too"


def test_too_many_new_ones_at_once_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_budget, "NEW_BURST", 2)
    known = aggregation()
    names = [known.add(event(name=name), NOW).name for name in ("a", "b", "c", "d", "a")]
    assert names == ["a.1", "b.2", "c.3", "c.3", "a.1"]
    assert known.add(event(name="c"), NOW + dt.timedelta(seconds=1)).name == "c.4"


def test_what_has_ended_is_forgotten() -> None:
    known = aggregation()
    for number in range(100):
        known.add(event(f"refused {number % 3}", name=f"d{number}"), NOW + number * WINDOW / 10)
    assert len(known._subjects) <= 11
    assert known._size == len(known._subjects)
