"""What a project's room is next. Pure.

    Opening → Open → Closing → Closed

A record is written before anything is done about it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from onair_crds.contract.rooms import EMPTY_ROOM_S, RENDERER_PREFIX, is_hosted, room_name, wanted_opening
from onair_crds.contract.times import format_time, parse_time
from onair_crds.resources.enums import RoomPhase, RoomState
from onair_crds.resources.project import BroadcastStatus
from onair_crds.resources.room import (
    MAX_IDENTITY,
    MAX_SHOWN_PARTICIPANTS,
    RoomParticipant,
    RoomStatus,
)
from onair_crds.room_server.client import ServerParticipant
from onair_operator.cluster.actions import Action, KeepRoom, Requeue, ResourceEvent
from onair_operator.cluster.queue import Key
from onair_operator.project.observed import ObservedProject
from onair_operator.room.plan import KeptRoom, RoomView

SOURCES = {
    "CAMERA": "Camera",
    "MICROPHONE": "Microphone",
    "SCREEN_SHARE": "ScreenShare",
    "SCREEN_SHARE_AUDIO": "ScreenShareAudio",
}


def next_room(
    observed: ObservedProject, broadcast: BroadcastStatus | None, now: dt.datetime
) -> RoomStatus | None:
    """The next record of the project's room; None of a project that never had one."""
    if not observed.rooms_available:
        return None
    opening = _wanted(observed)
    status = observed.project.status.room
    if opening is None:
        return _closing(observed, status, now) if status else None
    if status is None or status.opening != opening or status.phase not in (RoomPhase.OPENING, RoomPhase.OPEN):
        return RoomStatus(opening=opening, phase=RoomPhase.OPENING, since=format_time(now))
    view = observed.room
    if view is None:
        return status
    if view.error or view.opening != opening:
        return status.model_copy(update={"error": view.error})
    return _open(observed, status, view, broadcast, now)


def room_actions(observed: ObservedProject, after: RoomStatus | None, now: dt.datetime) -> Iterator[Action]:
    """Keeps the room as its record says, reports what came of it, and looks again when it may be closed."""
    project, room = observed.project, room_name(observed.project.uid)
    before = project.status.room
    if after is None:
        return
    if before is None or before.phase is not after.phase:
        if after.phase is RoomPhase.OPEN:
            yield ResourceEvent(project, "RoomOpen", "the WebRTC room is open")
        elif after.phase is RoomPhase.CLOSED:
            why = ": nobody was in it" if after.was_empty else ""
            yield ResourceEvent(project, "RoomClosed", f"the WebRTC room is closed{why}")
    if after.phase is RoomPhase.CLOSED:
        if observed.room_kept:
            yield KeepRoom(room, None)
        return
    is_open = after.phase in (RoomPhase.OPENING, RoomPhase.OPEN)
    barred = frozenset(each.identity for each in project.spec.room.barred) if is_open else frozenset()
    names = (
        frozenset((each.source, each.display_name) for each in observed.previewed) if is_open else frozenset()
    )
    kept = KeptRoom(project.name, after.opening if is_open else None, after.opening, barred, names)
    if kept != observed.room_kept:
        yield KeepRoom(room, kept)
    if is_open and after.empty_since:
        left_s = EMPTY_ROOM_S - (now - parse_time(after.empty_since)).total_seconds()
        if left_s > 0:  # afterwards nothing but what is seen of the room closes it
            yield Requeue(Key(project.kind, project.name), max(0.05, left_s))


def holds_project(observed: ObservedProject, after: RoomStatus | None) -> bool:
    """Whether the project must not be gone yet: people may be in its room, and its server can close it."""
    if after is None or after.phase is RoomPhase.CLOSED:
        return False
    unreachable = observed.room is not None and observed.room.error is not None
    return not (observed.project.deleting and unreachable)


def _wanted(observed: ObservedProject) -> int | None:
    project = observed.project
    if project.deleting or observed.collection is None or not is_hosted(project.spec.webrtc):
        return None
    return wanted_opening(project.spec.room, project.status.room)


def _closing(observed: ObservedProject, status: RoomStatus, now: dt.datetime) -> RoomStatus:
    spec = observed.project.spec
    if status.was_empty and (spec.room.state is RoomState.CLOSED or not is_hosted(spec.webrtc)):
        status = status.model_copy(update={"was_empty": None})
    view = observed.room
    match status.phase:
        case RoomPhase.OPENING | RoomPhase.OPEN:
            return _closed_to(status, RoomPhase.CLOSING, now)
        case RoomPhase.CLOSING:
            kept = observed.room_kept
            if kept and kept.opening is None and view and view.opening is None and not view.error:
                return _closed_to(status, RoomPhase.CLOSED, now)
            return status.model_copy(update={"error": view.error}) if view else status
        case RoomPhase.CLOSED:
            return status


def _closed_to(
    status: RoomStatus, phase: RoomPhase, now: dt.datetime, *, was_empty: bool = False
) -> RoomStatus:
    return RoomStatus(
        opening=status.opening,
        phase=phase,
        since=format_time(now),
        was_empty=True if was_empty else status.was_empty,
    )


def _open(
    observed: ObservedProject,
    status: RoomStatus,
    view: RoomView,
    broadcast: BroadcastStatus | None,
    now: dt.datetime,
) -> RoomStatus:
    on_air = broadcast is not None and broadcast.phase.active
    previews = {each.source_id for each in observed.project.spec.sources}
    held = any(_holds_open(each, previews, on_air=on_air) for each in view.participants)
    empty_since = None if held else status.empty_since or format_time(now)
    if empty_since and (now - parse_time(empty_since)).total_seconds() >= EMPTY_ROOM_S:
        return _closed_to(status, RoomPhase.CLOSING, now, was_empty=True)
    return RoomStatus(
        opening=status.opening,
        phase=RoomPhase.OPEN,
        since=status.since if status.phase is RoomPhase.OPEN else format_time(now),
        empty_since=empty_since,
        count=len(view.participants),
        participants=[_shown(each) for each in view.participants[:MAX_SHOWN_PARTICIPANTS]],
    )


def _holds_open(participant: ServerParticipant, previews: set[str], *, on_air: bool) -> bool:
    """Previews never do; those unseen only where they render what is on air."""
    if participant.identity in previews:
        return False
    return not participant.hidden or (on_air and participant.identity.startswith(RENDERER_PREFIX))


def _shown(participant: ServerParticipant) -> RoomParticipant:
    publishing = sorted({SOURCES.get(source, "Unknown") for source in participant.sources})
    return RoomParticipant(
        identity=participant.identity[:MAX_IDENTITY],
        display_name=participant.name[:256] or None,
        joined=format_time(dt.datetime.fromtimestamp(participant.joined_s, dt.UTC)),
        hidden=True if participant.hidden else None,
        publishing=publishing,
    )
