"""What becomes of a room and of who is in it: tables of cases."""

from __future__ import annotations

import pytest

from onair_crds.contract.participant_roles import signed_role
from onair_crds.resources.enums import Role
from onair_crds.room_server.client import ServerParticipant, ServerRoom
from onair_operator.room.plan import (
    NO_OPENING,
    KeptRoom,
    Remove,
    Rename,
    RoomStep,
    RoomView,
    changes,
    next_step,
)

OPEN, CLOSED = KeptRoom("show", 2, 2), KeptRoom("show", None, 2)
GONE = KeptRoom("show", None, NO_OPENING)
WITH_PREVIEW = KeptRoom("show", 2, 2, names=frozenset({("source-cam", "Camera")}))
SECRET = "s" * 32


def listed(opening: int | None, participants: int = 0) -> ServerRoom:
    return ServerRoom("room", opening, participants)


def person(
    identity: str, metadata: str, role: Role = Role.GUEST, *, hidden: bool = False
) -> ServerParticipant:
    attributes = signed_role(SECRET, "room", identity, role)
    return ServerParticipant(identity, identity, 1, hidden, (), (), metadata, attributes, True, True)


@pytest.mark.parametrize(
    ("wanted", "present", "known", "is_quiet", "step"),
    [
        (CLOSED, listed(2), None, False, RoomStep.DELETE),
        (CLOSED, listed(None), None, False, RoomStep.DELETE),
        (CLOSED, listed(3), None, False, RoomStep.LEAVE_CLOSED),
        (CLOSED, None, None, False, RoomStep.LEAVE_CLOSED),
        (GONE, listed(7), None, False, RoomStep.DELETE),
        (GONE, None, None, False, RoomStep.FORGET),
        (OPEN, None, None, False, RoomStep.OPEN),
        (OPEN, listed(1), None, False, RoomStep.OPEN),
        (OPEN, listed(2), None, True, RoomStep.LIST),
        (OPEN, listed(2), RoomView(2), True, RoomStep.TAKE_AS_EMPTY),
        (OPEN, listed(2), RoomView(2), False, RoomStep.LIST),
        (OPEN, listed(2, 1), RoomView(2), True, RoomStep.LIST),
        (OPEN, listed(2), RoomView(2, (person("anna", "{}"),)), True, RoomStep.LIST),
        (WITH_PREVIEW, listed(2), RoomView(2), True, RoomStep.LIST),
    ],
)
def test_what_becomes_of_a_room(
    wanted: KeptRoom, present: ServerRoom | None, known: RoomView | None, is_quiet: bool, step: RoomStep
) -> None:
    assert next_step(wanted, present, known, is_quiet=is_quiet) is step


def test_what_is_done_to_who_is_in_a_room() -> None:
    barred = KeptRoom("show", 2, 2, frozenset({"eve"}), frozenset({("source-cam", "Camera")}))
    true = '{"displayName":"anna","participantRole":"ROLE_HOST"}'
    found = [
        person("eve", "{}"),
        person("anna", true, Role.HOST),
        person("ben", true),
        person("page", "no JSON", Role.RENDERER, hidden=True),
        person("source-cam", '{"displayName":"source-cam"}'),
    ]
    assert list(changes("room", barred, found, SECRET)) == [
        Remove("eve"),
        Rename("ben", "ben", true.replace("HOST", "GUEST")),
        Rename("source-cam", "Camera", '{"displayName":"Camera"}'),
    ]
    other_secret = list(changes("room", barred, found[1:2], "another"))
    assert other_secret == [Rename("anna", "anna", true.replace("HOST", "GUEST"))], (
        "nobody signs for themselves"
    )
