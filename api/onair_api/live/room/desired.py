"""What requests make of the wanted state of a project's room. Pure."""

from __future__ import annotations

import datetime as dt

from pydantic import ValidationError

from onair_crds.contract.rooms import EMPTY_ROOM_S, is_hosted, wanted_opening, with_barred
from onair_crds.contract.times import parse_time
from onair_crds.resources.enums import RoomState
from onair_crds.resources.project import WebRtc
from onair_crds.resources.room import BarredParticipant, RoomStatus, RoomWanted
from onair_crds.shapes import JsonObject

LAST_S = 30
"""In its last seconds an empty room is opened again: the operator may be closing it already."""


def hosted(spec: JsonObject) -> bool:
    """Whether the project has a hosted room."""
    webrtc = spec.get("webrtc")
    return bool(webrtc) and is_hosted(WebRtc.model_validate(webrtc))


def room_wanted(spec: JsonObject) -> RoomWanted:
    """What a project's spec wants of its room."""
    return RoomWanted.model_validate(spec.get("room") or {})


def room_status(status: JsonObject) -> RoomStatus | None:
    """The room's status; None if there is none, or another version of the operator wrote it."""
    try:
        return RoomStatus.model_validate(status["room"]) if status.get("room") else None
    except ValidationError:
        return None


def present_opening(spec: JsonObject, status: JsonObject) -> int | None:
    """The opening that may be joined; None while the room is closed."""
    return wanted_opening(room_wanted(spec), room_status(status)) if hosted(spec) else None


def opened(spec: JsonObject, status: JsonObject, now: dt.datetime) -> JsonObject:
    """The `spec.room` with which the room is open; unchanged if it is."""
    wanted, known = room_wanted(spec), room_status(status)
    last = max(wanted.opening, known.opening if known else 0)
    if wanted_opening(wanted, known) is None:
        return RoomWanted(state=RoomState.OPEN, opening=last + 1).manifest()
    if known and known.empty_since:
        empty_s = (now - parse_time(known.empty_since)).total_seconds()
        if empty_s > EMPTY_ROOM_S - LAST_S and wanted.opening <= known.opening:
            return wanted.model_copy(update={"opening": last + 1}).manifest()
    return dict(spec.get("room") or {})


def closed(spec: JsonObject) -> JsonObject:
    """The `spec.room` with which the room is closed; unchanged if that is wanted already."""
    wanted = room_wanted(spec)
    if wanted.state is RoomState.CLOSED:
        return dict(spec.get("room") or {})
    return RoomWanted(state=RoomState.CLOSED, opening=wanted.opening).manifest()


def barred(spec: JsonObject, one: BarredParticipant) -> JsonObject:
    """The `spec.room` with which somebody who was removed stays out."""
    wanted = room_wanted(spec)
    return wanted.model_copy(update={"barred": with_barred(wanted.barred, one)}).manifest()


def with_room(spec: JsonObject, room: JsonObject) -> JsonObject:
    """A project's spec with this `room`; without one where it says nothing."""
    rest = {name: value for name, value in spec.items() if name != "room"}
    return {**rest, "room": room} if room else rest
