"""Tokens that admit somebody to one room of a provider. Pure: the same arguments give the same token."""

from __future__ import annotations

import datetime as dt

import jwt
from pydantic import SecretStr

from onair_crds.shapes import Claims


def livekit_publisher(
    api_key: str, api_secret: str, room: str, identity: str, until: dt.datetime
) -> SecretStr:
    """An access token of LiveKit: may join this room under this identity and publish audio and video."""
    claims: Claims = {
        "iss": api_key,
        "sub": identity,
        "exp": int(until.timestamp()),
        "video": {
            "room": room,
            "roomJoin": True,
            "canPublish": True,
            "canPublishSources": ["screen_share", "screen_share_audio"],
            "canPublishData": False,
            "canSubscribe": False,
            "canUpdateOwnMetadata": False,
        },
    }
    return SecretStr(jwt.encode(claims, api_secret, algorithm="HS256"))
