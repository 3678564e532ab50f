"""What requests make of the wanted state of a room."""

from __future__ import annotations

import datetime as dt

from onair_api.live.room.desired import barred, closed, opened, present_opening, with_room
from onair_crds.resources.room import BarredParticipant
from onair_crds.shapes import JsonObject

NOW = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
HOSTED: JsonObject = {"webrtc": {"hosted": {"enabled": True}}}


def room(opening: int, phase: str = "Open", **more: object) -> JsonObject:
    return {"room": {"opening": opening, "phase": phase, "since": "2026-01-01T11:00:00Z", **more}}


def test_the_first_join_opens_the_room_and_the_next_leave_it_as_it_is() -> None:
    first = opened(HOSTED, {}, NOW)
    assert first == {"state": "Open", "opening": 1, "barred": []}
    assert opened({**HOSTED, "room": first}, {}, NOW) == first
    assert present_opening({**HOSTED, "room": first}, {}) == 1


def test_a_room_opens_anew_without_those_who_were_removed() -> None:
    wanted = barred({"room": opened(HOSTED, {}, NOW)}, BarredParticipant(identity="eve"))
    stopped = closed({"room": wanted})
    assert stopped == {"state": "Closed", "opening": 1, "barred": []}
    assert opened({**HOSTED, "room": stopped}, room(1, "Closed"), NOW)["opening"] == 2


def test_a_room_that_closed_because_it_was_empty_opens_anew_by_a_join() -> None:
    spec = {**HOSTED, "room": {"state": "Open", "opening": 3}}
    status = room(3, "Closed", wasEmpty=True)
    assert present_opening(spec, status) is None
    assert opened(spec, status, NOW)["opening"] == 4


def test_a_join_in_the_last_seconds_of_an_empty_room_keeps_it_open_and_the_removed_out() -> None:
    eve: JsonObject = {"identity": "eve"}
    spec = {**HOSTED, "room": {"state": "Open", "opening": 3, "barred": [eve]}}
    early, late = (room(3, emptySince=at) for at in ("2026-01-01T11:56:00Z", "2026-01-01T11:55:20Z"))
    assert opened(spec, early, NOW) == spec["room"]
    assert opened(spec, late, NOW) == {"state": "Open", "opening": 4, "barred": [eve]}


def test_a_project_without_a_hosted_room_has_none_to_join() -> None:
    wanted: JsonObject = {"room": {"state": "Open", "opening": 1}}
    assert present_opening(wanted, {}) is None
    assert present_opening({**wanted, "webrtc": {"hosted": {"enabled": False}}}, {}) is None


def test_what_is_closed_already_is_not_written() -> None:
    assert closed({}) == {}
    assert with_room({"maxDuration": 1}, closed({})) == {"maxDuration": 1}


def test_a_spec_with_another_room_has_the_stored_metadata() -> None:
    spec: JsonObject = {"metadata": {"a": [[]]}, "room": {"state": "Open", "opening": 1}}
    for room_ in ({}, {"state": "Closed", "opening": 1}):
        assert with_room(spec, room_)["metadata"] is spec["metadata"]
    assert spec["room"] == {"state": "Open", "opening": 1}
