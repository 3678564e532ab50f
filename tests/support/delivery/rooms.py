"""Rooms as destinations, and a programme that is fit for them."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from typing import Any

from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.processes import children_of
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination, ProgramRtc
from onair_crds.resources.enums import ConnectState
from onair_crds.room_publisher.room_client import COMMAND
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.destination_publisher import DestinationPublisher
from onair_encoder.publish.rtc.output import RtcOutput

IDENTITY = "programme"
HIGH_PROFILE = ["-preset", "veryfast", "-profile:v", "high"]


def room_destination(server: LiveKitServer, room: str, **extra: Any) -> ProgramDestination:
    token = extra.pop("token", None) or server.token(room, IDENTITY, canPublish=True, canSubscribe=False)
    url = extra.pop("url", server.url)
    rtc = ProgramRtc(provider="livekit", url=url, token=token, room=room, identity=IDENTITY)
    return ProgramDestination(**{"id": room, "type": "RTC", "rtc": rtc, "timeout_ms": 1000, **extra})


@contextlib.asynccontextmanager
async def publishing(wanted: ProgramDestination, fan_out: FanOut) -> AsyncIterator[DestinationPublisher]:
    publisher = DestinationPublisher(RtcOutput, wanted, fan_out, lambda: None)
    try:
        yield publisher
    finally:
        publisher.abort()
        await asyncio.gather(publisher._task, return_exceptions=True)


async def until_reported(publisher: DestinationPublisher, words: str | None, timeout_s: float = 15.0) -> None:
    """Waits until the destination is connected, or reports these words."""

    def reported() -> bool:
        state = publisher.destination.state
        if words is None:
            return state.connect is ConnectState.CONNECTED
        return words in (state.last_error or "")

    await until(reported, words or "connected", timeout_s, state=lambda: publisher.destination.state)
    assert words is None or publisher.destination.state.connect is ConnectState.DISCONNECTED


def process_of(room: str) -> int:
    """The pid of the one process that this test's process has for a room."""
    found = children_of(os.getpid(), COMMAND[-1])
    assert len(found) == 1, (room, found)
    return found[0]
