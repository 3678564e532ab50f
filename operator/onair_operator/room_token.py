"""Tokens that admit an encoder to one room, as a publisher and no more. Pure: the same for the same run."""

from __future__ import annotations

import datetime as dt

import jwt
from pydantic import SecretStr

from onair_crds.contract.times import parse_time
from onair_crds.resources.project import BroadcastStatus
from onair_operator.rtc_providers import RtcProvider

MARGIN = dt.timedelta(hours=1)
"""A run is measured from its first frame, which comes a little after its encoder is claimed."""


def valid_until(broadcast: BroadcastStatus, max_duration_ms: int) -> dt.datetime | None:
    """When the run's present encoder is over at the latest; None before there is one."""
    claimed = broadcast.claimed or broadcast.requested
    if not claimed:
        return None
    return parse_time(claimed) + dt.timedelta(milliseconds=max_duration_ms) + MARGIN


def livekit_token(provider: RtcProvider, room: str, identity: str, until: dt.datetime) -> SecretStr:
    """An access token of LiveKit: may join this room under this identity, and publish picture and sound."""
    claims = {
        "iss": provider.api_key,
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
    return SecretStr(jwt.encode(claims, provider.api_secret, algorithm="HS256"))
