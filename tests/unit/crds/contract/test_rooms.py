"""What facade and operator agree on about rooms."""

from __future__ import annotations

import pytest

from onair_crds.contract.rooms import (
    identities,
    is_barred,
    is_hosted,
    metadata_of,
    opening_of,
    user_of,
    wanted_opening,
    with_barred,
)
from onair_crds.resources.enums import RoomPhase, RoomState
from onair_crds.resources.project import WebRtc
from onair_crds.resources.room import MAX_BARRED, BarredParticipant, RoomStatus, RoomWanted

OPEN, CLOSED = RoomState.OPEN, RoomState.CLOSED


def status(opening: int, phase: RoomPhase, *, was_empty: bool | None = None) -> RoomStatus:
    return RoomStatus(opening=opening, phase=phase, since="2026-01-01T00:00:00Z", was_empty=was_empty)


@pytest.mark.parametrize(
    ("wanted", "known", "opening"),
    [
        (RoomWanted(), None, None),
        (RoomWanted(state=OPEN), None, 1),
        (RoomWanted(state=OPEN, opening=7), None, 7),
        (RoomWanted(state=OPEN), status(1, RoomPhase.OPEN), 1),
        (RoomWanted(state=OPEN, opening=2), status(1, RoomPhase.OPEN), 2),
        (RoomWanted(state=CLOSED, opening=2), status(2, RoomPhase.OPEN), None),
        (RoomWanted(state=OPEN, opening=2), status(2, RoomPhase.CLOSED, was_empty=True), None),
        (RoomWanted(state=OPEN, opening=2), status(2, RoomPhase.CLOSING, was_empty=True), None),
        (RoomWanted(state=OPEN, opening=3), status(2, RoomPhase.CLOSED, was_empty=True), 3),
        (RoomWanted(state=OPEN, opening=0), status(2, RoomPhase.CLOSED), 3),
    ],
)
def test_a_room_that_closed_because_it_was_empty_needs_a_new_opening(
    wanted: RoomWanted, known: RoomStatus | None, opening: int | None
) -> None:
    assert wanted_opening(wanted, known) == opening


@pytest.mark.parametrize(
    ("webrtc", "expected"),
    [
        (None, False),
        ({}, False),
        ({"hosted": {}}, True),
        ({"hosted": {"enabled": True}}, True),
        ({"hosted": {"enabled": False}}, False),
    ],
)
def test_hosted_means_enabled_unless_it_says_otherwise(webrtc: object, expected: bool) -> None:
    assert is_hosted(None if webrtc is None else WebRtc.model_validate(webrtc)) is expected


@pytest.mark.parametrize("user", ["anna", "anna#2", "#1", "a#b", "renderer-3"])
def test_no_two_users_share_an_identity(user: str) -> None:
    others = {"anna", "anna#2", "anna#2#1", "#1", "a#b", "renderer-3"} - {user}
    mine = {identities(user, number) for number in range(1, 30)}
    theirs = {identities(other, number) for other in others - {"anna#2#1"} for number in range(1, 30)}
    assert not mine & theirs
    assert {user_of(identity) for identity in mine} == {user}


def test_metadata_of_others_names_no_opening() -> None:
    assert opening_of(metadata_of(4)) == 4
    for text in ("", "null", "[]", "{", '{"onairOpening": true}', '{"onairOpening": "4"}', '{"other": 4}'):
        assert opening_of(text) is None
    assert opening_of("[" * 100_000) is None, "another application's"


def test_the_list_of_those_removed_is_bounded() -> None:
    barred: list[BarredParticipant] = []
    for number in range(MAX_BARRED + 5):
        barred = with_barred(barred, BarredParticipant(identity=f"guest-{number}"))
    barred = with_barred(barred, BarredParticipant(identity="guest-100"))
    assert len(barred) == MAX_BARRED
    assert is_barred(barred, "guest-100")
    assert not is_barred(barred, "guest-4")
