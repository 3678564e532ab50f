"""Tokens for rooms of LiveKit: they admit somebody to one room, or run the server."""

from __future__ import annotations

import datetime as dt
import json
import time
from typing import Any

import jwt
from pydantic import SecretStr

from onair_crds.contract.participant_roles import signed_role
from onair_crds.contract.previews import preview_metadata
from onair_crds.resources.enums import Role
from onair_crds.shapes import Claims, JsonObject

SERVICE_LIFE_S = 60
PREVIEW_LIFE_S = 3600
"""A gateway that rejoins long after the request needs a token that is still valid."""
_ADMINS = frozenset({Role.HOST, Role.COHOST, Role.IMPERSONATE})
_PUBLISHERS = _ADMINS | {Role.CONTRIBUTOR, Role.GUEST}


def livekit_publisher(
    api_key: str, api_secret: str, room: str, identity: str, until: dt.datetime
) -> SecretStr:
    """An access token of LiveKit: may join this room under this identity and publish audio and video."""
    claims: Claims = {
        "iss": api_key,
        "sub": identity,
        "exp": int(until.timestamp()),
        "video": _publishes_screen(room),
    }
    return SecretStr(jwt.encode(claims, api_secret, algorithm="HS256"))


def livekit_renderer(
    api_key: str, api_secret: str, room: str, identity: str, until: dt.datetime
) -> SecretStr:
    """An access token of LiveKit: may join this room unseen and be sent what is published there, no more."""
    claims: Claims = {
        "iss": api_key,
        "sub": identity,
        "exp": int(until.timestamp()),
        "video": {
            "room": room,
            "roomJoin": True,
            "canPublish": False,
            "canPublishData": False,
            "canSubscribe": True,
            "canUpdateOwnMetadata": False,
            "hidden": True,
        },
    }
    return SecretStr(jwt.encode(claims, api_secret, algorithm="HS256"))


def livekit_preview(api_key: str, api_secret: str, room: str, source: str, display_name: str) -> SecretStr:
    """An access token of LiveKit: may join this room as the preview of a source, and show it."""
    claims: Claims = {
        "iss": api_key,
        "sub": source,
        "name": display_name,
        "metadata": preview_metadata(display_name),
        "exp": int(time.time()) + PREVIEW_LIFE_S,
        "video": _publishes_screen(room),
    }
    return SecretStr(jwt.encode(claims, api_secret, algorithm="HS256"))


def _publishes_screen(room: str) -> Claims:
    """What those may who are programs: nothing but to publish audio and video as a screen."""
    return {
        "room": room,
        "roomJoin": True,
        "canPublish": True,
        "canPublishSources": ["screen_share", "screen_share_audio"],
        "canPublishData": False,
        "canSubscribe": False,
        "canUpdateOwnMetadata": False,
    }


def livekit_service(api_key: str, api_secret: str, room: str) -> SecretStr:
    """A token of this installation's own programs: may open, list and close rooms, and run this one."""
    claims: Claims = {
        "iss": api_key,
        "sub": "onair",
        "exp": int(time.time()) + SERVICE_LIFE_S,
        "video": {"roomCreate": True, "roomList": True, "roomAdmin": True, "room": room},
    }
    return SecretStr(jwt.encode(claims, api_secret, algorithm="HS256"))


def is_room_admin(role: Role) -> bool:
    """Whether a role may remove and mute others."""
    return role in _ADMINS


def publishes(role: Role) -> bool:
    """Whether a role may publish, and change what the others are shown of it."""
    return role in _PUBLISHERS


def participant_metadata(display_name: str, role: Role, given: JsonObject) -> str:
    """What the others in a room read of a participant: always a JSON object with these two keys."""
    metadata = {**given, "displayName": display_name, "participantRole": role.wire}
    return json.dumps(metadata, ensure_ascii=False, separators=(",", ":"))


class _Utf8(json.JSONEncoder):
    """Leaves characters as they are: the token is in urls, and an escaped one takes six bytes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "ensure_ascii": False})


def livekit_participant(
    api_key: str,
    api_secret: str,
    *,
    room: str,
    identity: str,
    role: Role,
    display_name: str,
    metadata: str,
    until: dt.datetime,
    origin: str,
) -> SecretStr:
    """An access token of LiveKit: may join this room under this identity, and there what the role may.

    Args:
        origin: what it goes back to, which the server's renewals of it say too.
    """
    may_publish = publishes(role)
    claims: Claims = {
        "iss": api_key,
        "sub": identity,
        "name": display_name,
        "metadata": metadata,
        "attributes": signed_role(api_secret, room, identity, role),
        "exp": int(until.timestamp()),
        "roomConfig": {"name": origin},
        "video": {
            "room": room,
            "roomJoin": True,
            "roomAdmin": is_room_admin(role),
            "canPublish": may_publish,
            "canPublishData": may_publish,
            "canSubscribe": True,
            "canUpdateOwnMetadata": may_publish,
            "hidden": role is Role.RENDERER,
        },
    }
    return SecretStr(jwt.encode(claims, api_secret, algorithm="HS256", json_encoder=_Utf8))
