"""What a project's room is next."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from tests.support import worlds

from onair_crds.contract.rooms import EMPTY_ROOM_S
from onair_crds.contract.times import format_time
from onair_crds.resources.enums import RoomPhase
from onair_crds.resources.project import Project
from onair_crds.resources.room import MAX_SHOWN_PARTICIPANTS, RoomStatus
from onair_crds.room_server.client import ServerParticipant
from onair_operator.cluster.actions import KeepRoom, Requeue, SetFinalizer
from onair_operator.project.next_room import holds_project, next_room, room_actions
from onair_operator.project.observed import ObservedProject
from onair_operator.project.plan import make_plan
from onair_operator.room.plan import KeptRoom, RoomView

NOW = worlds.NOW
LONG_AGO = format_time(NOW - dt.timedelta(seconds=EMPTY_ROOM_S))


def observed(wanted: dict[str, Any] | None, status: RoomStatus | None, **more: Any) -> ObservedProject:
    spec: dict[str, Any] = {
        "collectionId": "sunday",
        "webrtc": {"hosted": {}},
        "sources": [{"sourceId": "source-cam"}],
    }
    if wanted is not None:
        spec["room"] = wanted
    document = {
        "metadata": {"name": "show", "uid": "uid-show", "generation": 1, "resourceVersion": "1"},
        "spec": {**spec, **more.pop("spec", {})},
        "status": {"room": status.manifest()} if status else {},
    }
    project = Project.model_validate(document)
    return ObservedProject(project, worlds.collection(), rooms_available=True, **more)


def status(phase: RoomPhase = RoomPhase.OPEN, **more: Any) -> RoomStatus:
    return RoomStatus(opening=2, phase=phase, since=format_time(NOW), **more)


def person(identity: str = "anna", *, hidden: bool = False) -> ServerParticipant:
    return ServerParticipant(identity, identity.title(), 1_770_000_000, hidden, ("CAMERA", "MICROPHONE"))


OPEN = {"state": "Open", "opening": 2}
CLOSED = {"state": "Closed", "opening": 2}
KEPT = KeptRoom("show", 2, 2)


def phase(world: ObservedProject) -> RoomPhase | None:
    room = next_room(world, None, NOW)
    return room.phase if room else None


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (observed(None, None), None),
        (observed(OPEN, None), RoomPhase.OPENING),
        (observed(OPEN, status(RoomPhase.OPENING)), RoomPhase.OPENING),
        (observed(OPEN, status(RoomPhase.OPENING), room=RoomView(1)), RoomPhase.OPENING),
        (observed(OPEN, status(RoomPhase.OPENING), room=RoomView(2)), RoomPhase.OPEN),
        (observed({"state": "Open", "opening": 3}, status(), room=RoomView(2)), RoomPhase.OPENING),
        (observed(CLOSED, status(), room=RoomView(2)), RoomPhase.CLOSING),
        (observed(OPEN, status(), spec={"webrtc": {"hosted": {"enabled": False}}}), RoomPhase.CLOSING),
        (observed(CLOSED, status(RoomPhase.CLOSING), room=RoomView(2), room_kept=KEPT), RoomPhase.CLOSING),
        (
            observed(CLOSED, status(RoomPhase.CLOSING), room=RoomView(), room_kept=KeptRoom("show", None, 2)),
            RoomPhase.CLOSED,
        ),
        (observed(OPEN, status(empty_since=LONG_AGO), room=RoomView(2)), RoomPhase.CLOSING),
        (observed(OPEN, status(empty_since=LONG_AGO), room=RoomView(2, (person(),))), RoomPhase.OPEN),
        (observed(OPEN, status(RoomPhase.CLOSED, was_empty=True)), RoomPhase.CLOSED),
        (observed({"state": "Open"}, status(RoomPhase.CLOSED)), RoomPhase.OPENING),
    ],
)
def test_a_room_follows_what_is_wanted_and_seen(world: ObservedProject, expected: RoomPhase | None) -> None:
    assert phase(world) == expected


@pytest.mark.parametrize(
    ("who", "on_air", "holds"),
    [
        (person(), False, True),
        (person("source-cam"), True, False),
        (person("renderer-3", hidden=True), True, True),
        (person("renderer-3", hidden=True), False, False),
        (person("watcher", hidden=True), True, False),
    ],
)
def test_previews_and_the_unseen_hold_no_room_open(who: ServerParticipant, on_air: bool, holds: bool) -> None:
    broadcast = worlds.project(status={"broadcast": {"id": "run", "phase": "Running"}}).status.broadcast
    room = next_room(observed(OPEN, status(), room=RoomView(2, (who,))), broadcast if on_air else None, NOW)
    assert room
    assert (room.empty_since is None) is holds
    assert room.count == 1


def test_who_is_in_the_room_is_told_within_bounds() -> None:
    crowd = tuple(person(f"guest-{number}") for number in range(80))
    room = next_room(observed(OPEN, status(), room=RoomView(2, crowd)), None, NOW)
    assert room
    assert (room.count, len(room.participants)) == (80, MAX_SHOWN_PARTICIPANTS)
    first = room.participants[0]
    assert (first.identity, first.display_name, first.publishing) == (
        "guest-0",
        "Guest-0",
        ["Camera", "Microphone"],
    )


def test_an_unreachable_room_server_is_told_and_changes_nothing_else() -> None:
    before = status(count=1)
    room = next_room(observed(OPEN, before, room=RoomView(2, error="it does not respond")), None, NOW)
    assert room == before.model_copy(update={"error": "it does not respond"})


def test_a_plan_keeps_the_room_once_and_removes_those_barred() -> None:
    world = observed({**OPEN, "barred": [{"identity": "eve"}]}, status(), room=RoomView(2))
    room = next_room(world, None, NOW)
    wanted = KeptRoom("show", 2, 2, frozenset({"eve"}))
    actions = list(room_actions(world, room, NOW))
    assert [each for each in actions if isinstance(each, KeepRoom)] == [KeepRoom("uid-show", wanted)]
    assert any(isinstance(each, Requeue) and each.after_s == EMPTY_ROOM_S for each in actions)
    again = list(room_actions(replace(world, room_kept=wanted), room, NOW))
    assert not any(isinstance(each, KeepRoom) for each in again)


def test_without_a_room_server_there_is_nothing_to_do() -> None:
    world = replace(observed(OPEN, None), rooms_available=False)
    assert next_room(world, None, NOW) is None
    assert list(room_actions(world, None, NOW)) == []


@pytest.mark.parametrize("view", [None, RoomView(2, error="no response")])
def test_an_empty_room_of_which_nothing_is_seen_is_not_looked_at_again_and_again(
    view: RoomView | None,
) -> None:
    long_ago = format_time(NOW - dt.timedelta(seconds=EMPTY_ROOM_S + 1))
    world = observed(OPEN, status(empty_since=long_ago), room=view, room_kept=KEPT)
    room = next_room(world, None, NOW)
    assert room
    assert room.phase is RoomPhase.OPEN
    assert list(room_actions(world, room, NOW)) == []


@pytest.mark.parametrize(
    ("room", "view", "deleting", "holds"),
    [
        (None, None, False, False),
        (status(RoomPhase.OPENING), None, False, True),
        (status(), RoomView(2), False, True),
        (status(), RoomView(2), True, True),
        (status(RoomPhase.CLOSING), None, True, True),
        (status(RoomPhase.CLOSING), RoomView(error="no response"), True, False),
        (status(RoomPhase.CLOSING), RoomView(error="no response"), False, True),
        (status(RoomPhase.CLOSED), RoomView(), True, False),
    ],
)
def test_a_project_stays_until_its_room_is_closed_if_that_can_be(
    room: RoomStatus | None, view: RoomView | None, deleting: bool, holds: bool
) -> None:
    world = observed(OPEN, room, room=view)
    if deleting:
        gone = {"deletionTimestamp": "2026-05-01T12:00:00Z"}
        document = world.project.model_dump(mode="json", by_alias=True)
        document["metadata"] |= gone
        world = replace(world, project=Project.model_validate(document))
    assert holds_project(world, room) is holds


def test_a_room_is_held_by_its_project_from_before_it_is_opened_until_it_is_closed() -> None:
    world = observed(OPEN, None)
    actions = [each for each in make_plan(world, NOW, worlds.SETTINGS) if isinstance(each, SetFinalizer)]
    assert [each.present for each in actions] == [True]
    document = world.project.model_dump(mode="json", by_alias=True)
    document["metadata"] |= worlds.held()
    document["spec"]["room"] = CLOSED
    document["status"] = {"room": status(RoomPhase.CLOSING).manifest()}
    closing = replace(world, project=Project.model_validate(document), room_kept=KeptRoom("show", None, 2))
    assert not any(isinstance(each, SetFinalizer) for each in make_plan(closing, NOW, worlds.SETTINGS))
    closed = replace(closing, room=RoomView())
    (release,) = [each for each in make_plan(closed, NOW, worlds.SETTINGS) if isinstance(each, SetFinalizer)]
    assert not release.present
