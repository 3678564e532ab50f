"""Tokens that admit an encoder to one room, to publish or to watch. Pure: the same for the same run."""

from __future__ import annotations

import datetime as dt

from pydantic import SecretStr

from onair_crds.contract.program import ProgramRoomServer
from onair_crds.contract.room_tokens import livekit_publisher, livekit_renderer
from onair_crds.contract.rooms import RENDERER_PREFIX
from onair_crds.contract.times import parse_time
from onair_crds.resources.project import BroadcastStatus
from onair_operator.room.plan import RoomServerAccess
from onair_operator.room.providers import RtcProvider

MARGIN = dt.timedelta(hours=1)
"""A run is measured from its first frame, which comes a little after its encoder has a node."""


def valid_until(
    broadcast: BroadcastStatus, max_duration_ms: int, scheduled: dt.datetime | None = None
) -> dt.datetime | None:
    """When the run's present encoder is over at the latest; None before there is one.

    The first frame moves it only if it came so late that the margin is too little: tokens in use stay.

    Args:
        scheduled: when the encoder's pod got its node, for which it may have waited for hours.
    """
    claimed = broadcast.claimed or broadcast.requested
    if not claimed:
        return None
    began = max(parse_time(claimed), scheduled) if scheduled else parse_time(claimed)
    if broadcast.start and (start := parse_time(broadcast.start)) - began > MARGIN / 2:
        began = start
    return began + dt.timedelta(milliseconds=max_duration_ms) + MARGIN


def publisher_token(provider: RtcProvider, room: str, identity: str, until: dt.datetime) -> SecretStr:
    """A token of the provider's kind for one room and identity."""
    match provider.type:
        case "livekit":
            return livekit_publisher(provider.api_key, provider.api_secret, room, identity, until)


def renderer_access(server: RoomServerAccess, room: str, epoch: int, until: dt.datetime) -> ProgramRoomServer:
    """What an encoder joins its project's room with while the facade is unavailable."""
    known = server.credentials
    token = livekit_renderer(known.api_key, known.api_secret, room, f"{RENDERER_PREFIX}{epoch}", until)
    return ProgramRoomServer.model_validate({"url": server.url, "token": token})
