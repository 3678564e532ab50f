"""Webhooks of the room server: whether they are genuine, and what they say. Pure but for the clock.

A webhook's token is signed with the room server's secret and holds the hash of the body.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass

import jwt
import orjson

from onair_api.errors import InvalidArgument, Unauthenticated, Violation
from onair_crds.room_server.credentials import RoomServerCredentials
from onair_crds.shapes import JsonObject

CLOCK_LEEWAY_S = 10
SUB_TYPES = {
    "participant_joined": "JOIN",
    "participant_left": "LEAVE",
    "track_published": "PUBLISH",
    "track_unpublished": "UNPUBLISH",
}
"""Of events, by what the room server calls it; of nothing else there is an event."""
_REFUSED = "the webhook is not the room server's: {}"


@dataclass(frozen=True)
class RoomNews:
    """What a participant of a room did."""

    id: str
    room: str
    sub_type: str
    session: str
    """Names this stay of the participant in the room."""
    hidden: bool
    record: JsonObject


def verify(body: bytes, authorization: str | None, credentials: RoomServerCredentials) -> None:
    """Checks that a webhook comes from the room server.

    Raises:
        Unauthenticated: it was not sent by the room server, or is not what it sent, or is old.
    """
    token = (authorization or "").removeprefix("Bearer ").strip()
    try:
        claims = jwt.decode(
            token,
            credentials.api_secret,
            algorithms=["HS256"],
            issuer=credentials.api_key,
            leeway=CLOCK_LEEWAY_S,
            options={"require": ["iss", "exp"], "verify_aud": False, "verify_iat": False},
        )
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
        raise Unauthenticated(_REFUSED.format("its token cannot be verified")) from None
    digest = base64.b64encode(hashlib.sha256(body).digest())
    if not hmac.compare_digest(digest, str(claims.get("sha256")).encode()):
        raise Unauthenticated(_REFUSED.format("its body was changed"))


def decode(body: bytes) -> RoomNews | None:
    """What a webhook says; None if it causes no event.

    Raises:
        InvalidArgument: it is no webhook.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise InvalidArgument(Violation("", "the body must be a JSON object"))
    sub_type = SUB_TYPES.get(str(value.get("event")))
    room, participant = _object(value, "room"), _object(value, "participant")
    if sub_type is None or not value.get("id") or not room.get("name") or not participant.get("identity"):
        return None
    record: JsonObject = {"participantId": str(participant["identity"])}
    if name := participant.get("name"):
        record["displayName"] = str(name)
    if track := _object(value, "track"):
        record["source"] = str(track.get("source") or "UNKNOWN")
    return RoomNews(
        id=str(value["id"]),
        room=str(room["name"]),
        sub_type=sub_type,
        session=str(participant.get("sid")),
        hidden=_object(participant, "permission").get("hidden") is True,
        record=record,
    )


def _object(value: JsonObject, name: str) -> JsonObject:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
