"""Which sources a project's room shows."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import worlds

from onair_crds.contract.times import format_time
from onair_crds.kube.store import Store
from onair_crds.resources.enums import RoomPhase
from onair_crds.resources.project import Project
from onair_crds.resources.room import RoomParticipant, RoomStatus
from onair_crds.room_server.client import ServerParticipant
from onair_operator.cluster.actions import ShowPreviews
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.ingest.shown_previews import ShownPreviews, ShownSource
from onair_operator.project.observe import _previewed
from onair_operator.project.observed import ObservedProject
from onair_operator.project.previewed_sources import previews, show_previews
from onair_operator.room.plan import RoomView

SINCE = format_time(worlds.NOW)
CAMERA = ShownSource("source-cam", "onair-ingest-0", "stream", "Camera")
OPEN = RoomStatus(opening=2, phase=RoomPhase.OPEN, since=SINCE)
SHOWN = ShownPreviews(2, frozenset({CAMERA}))


def observed(*identities: str, barred: str | None = None, **more: Any) -> ObservedProject:
    """A project with a camera.

    Args:
        identities: who is in the room; unseen where a hyphen is before it.
        barred: who was removed.
    """
    wanted = {"state": "Open", "opening": 2, "barred": [{"identity": barred}] if barred else []}
    document = {
        "metadata": {"name": "show", "uid": "uid-show", "generation": 1, "resourceVersion": "1"},
        "spec": {
            "collectionId": "sunday",
            "webrtc": {"hosted": {}},
            "sources": [{"sourceId": "source-cam"}],
            "room": wanted,
        },
    }
    present = tuple(
        ServerParticipant(each.strip("-"), each, 1, each.startswith("-"), ()) for each in identities
    )
    given = {"previewed": (CAMERA,), "room": RoomView(2, present), **more}
    return ObservedProject(
        Project.model_validate(document), worlds.collection(), rooms_available=True, **given
    )


def test_a_source_is_shown_while_somebody_is_there_to_see_it() -> None:
    assert previews(observed("anna"), OPEN) == SHOWN


@pytest.mark.parametrize("there", [(), ("source-cam",), ("-renderer-1",), ("source-cam", "-renderer-1")])
def test_neither_previews_nor_those_unseen_are_somebody(there: tuple[str, ...]) -> None:
    assert previews(observed(*there), OPEN) == ShownPreviews(2)


def test_a_preview_of_a_source_that_has_just_left_the_project_is_nobody() -> None:
    lingering = ShownSource("source-gone", "onair-ingest-0", "other", "Other")
    world = observed("source-gone", shown=ShownPreviews(2, frozenset({lingering})))
    assert previews(world, OPEN) == ShownPreviews(2)


@pytest.mark.parametrize("phase", [RoomPhase.CLOSING, RoomPhase.CLOSED])
def test_a_room_that_closes_shows_nothing(phase: RoomPhase) -> None:
    assert not previews(observed("anna"), OPEN.model_copy(update={"phase": phase})).previews


def test_a_preview_that_was_removed_stays_out_until_the_room_opens_anew() -> None:
    assert not previews(observed("anna", barred="source-cam"), OPEN).previews


@pytest.mark.parametrize("seen", [None, RoomView(2, (), "the room server does not respond")])
def test_a_new_leader_trusts_the_one_before_until_it_has_seen_the_room(seen: RoomView | None) -> None:
    anna = RoomParticipant(identity="anna", joined=SINCE)
    known = OPEN.model_copy(update={"count": 1, "participants": [anna]})
    assert previews(observed(room=seen), known) == SHOWN


def test_the_first_word_is_always_said_and_then_changes_alone() -> None:
    assert list(show_previews(observed(), OPEN)) == [ShowPreviews("uid-show", ShownPreviews(2))]
    assert list(show_previews(observed("anna", shown=SHOWN), OPEN)) == []
    renamed = ShownSource("source-cam", "onair-ingest-0", "stream", "Balcony")
    (said,) = show_previews(observed("anna", shown=SHOWN, previewed=(renamed,)), OPEN)
    assert said == ShowPreviews("uid-show", ShownPreviews(2, frozenset({renamed})))
    assert list(show_previews(observed("anna"), None)) == [], "it never had a room"


@pytest.mark.parametrize(
    ("spec", "status", "found"),
    [
        ({}, {}, ["Camera"]),
        ({"preview": {"webrtc": {}}}, {}, ["source-cam"]),
        ({"preview": {"webrtc": {"enabled": False}}}, {}, []),
        ({"preview": {}}, {}, []),
        ({"collectionId": "monday"}, {}, []),
        ({}, {"connect": "Disconnected"}, []),
        ({}, {"connect": "Disconnected", "unknown": True}, ["Camera"]),
        ({}, {"stream": None}, []),
    ],
)
def test_connected_sources_of_the_collection_that_ask_for_it_are_shown(
    spec: dict[str, Any], status: dict[str, Any], found: list[str]
) -> None:
    store = Store(KINDS)
    given = {
        "collectionId": "sunday",
        "address": {"rtmpPush": {}},
        "preview": {"webrtc": {"enabled": True, "displayName": "Camera"}},
    }
    connected = {"connect": "Connected", "gateway": "onair-ingest-0", "stream": "stream"}
    metadata = {"name": "source-cam", "uid": "uid-cam", "generation": 1, "resourceVersion": "1"}
    store.update(
        "Source", {"metadata": metadata, "spec": {**given, **spec}, "status": {**connected, **status}}
    )
    assert [each.display_name for each in _previewed(store, observed().project)] == found
