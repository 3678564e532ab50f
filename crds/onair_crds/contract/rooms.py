"""What facade and operator must agree on about hosted rooms. Pure."""

from __future__ import annotations

import json
import re

from onair_crds.resources.enums import RoomPhase, RoomState
from onair_crds.resources.project import WebRtc
from onair_crds.resources.room import MAX_BARRED, BarredParticipant, RoomStatus, RoomWanted

SECRET_NAME = "onair-rooms"  # noqa: S105 - the name of a Secret
API_KEY, API_SECRET = "apiKey", "apiSecret"
"""Keys of the Secret that holds the room server's credentials."""
ROOM_KEY_NAME = "onair"
"""The API key of the built-in room server, whose configuration names it; the secret is random."""
SERVER_KEYS = "keys"
"""Key of the same Secret: both as livekit-server reads them, `<key>: <secret>`."""

SIGNAL_PATH = "/webrtc/v2"
"""Where the facade offers signalling and administration of rooms."""
WEBHOOK_PATH = "/internal/rooms/webhook"
"""Where livekit-server sends its webhooks to."""

EMPTY_ROOM_S = 300
"""A room closes this long after the last participant left who holds it open."""
SERVER_MARGIN_S = 60
"""How much longer the room server keeps an empty room that nobody closes."""

RENDERER_PREFIX = "renderer-"
_OPENING = "onairOpening"
_SECOND_JOIN = re.compile(r"#\d+$")


def room_name(project_uid: str) -> str:
    """The name of a project's room on the room server."""
    return project_uid


def metadata_of(opening: int) -> str:
    """The metadata of a room on the room server: a JSON object, as some clients read it."""
    return json.dumps({_OPENING: opening})


def opening_of(metadata: str) -> int | None:
    """The opening that a room on the room server was made for; None for one that is not ours."""
    try:
        value = json.loads(metadata)
    except (ValueError, RecursionError):
        return None
    opening = value.get(_OPENING) if isinstance(value, dict) else None
    return opening if isinstance(opening, int) and not isinstance(opening, bool) else None


def is_hosted(webrtc: WebRtc | None) -> bool:
    """Whether a project has a hosted room at all."""
    return webrtc is not None and webrtc.hosted is not None and webrtc.hosted.enabled


def wanted_opening(wanted: RoomWanted, status: RoomStatus | None) -> int | None:
    """The opening that is wanted, of a project that has a room; None if the room is to be closed."""
    if wanted.state is not RoomState.OPEN:
        return None
    if status is None:
        return max(wanted.opening, 1)
    if status.phase not in (RoomPhase.CLOSED, RoomPhase.CLOSING):
        return max(wanted.opening, status.opening)
    if status.was_empty and wanted.opening <= status.opening:
        return None
    return max(wanted.opening, status.opening + 1)


def user_of(identity: str) -> str:
    """The user of an identity, whichever of their joins it is."""
    return _SECOND_JOIN.sub("", identity)


def identities(user: str, number: int) -> str:
    """The identity of a user's first, second … join.

    The first is the user's id itself, unless that looks like another user's second one.
    """
    return user if number == 1 and not _SECOND_JOIN.search(user) else f"{user}#{number}"


def is_barred(barred: list[BarredParticipant], identity: str) -> bool:
    """Whether this identity may not join."""
    return any(each.identity == identity for each in barred)


def with_barred(barred: list[BarredParticipant], one: BarredParticipant) -> list[BarredParticipant]:
    """The list with one more; the oldest goes where there are too many."""
    return [*[each for each in barred if each != one][1 - MAX_BARRED :], one]
