"""A session whose connection cannot take what it is given."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.media.packets import VIDEO_HEADER, picture

from onair_crds.contract.program import ProgramDestination
from onair_crds.media.flv import Packet
from onair_crds.session_error import SessionError
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.stream_session import StreamSession
from onair_encoder.publish.supplied_destination import SuppliedDestination

WANTED = ProgramDestination(id="d", type="SRT", url="srt://a.example:9000", timeout_ms=1000)


class Unpackable:
    """A connection to a healthy server, which cannot encode what it is given."""

    key_name = "stream key"
    grain_ms = settle_s = round_trip_ms = 0.0
    written = unsent = acknowledged = 0
    idle = True
    one_size = audio_continues = over = worn_out = congested = False
    relieved = True
    server = "a.example:9000"

    def __init__(self) -> None:
        self.closed: asyncio.Future[SessionError] = asyncio.get_running_loop().create_future()

    def send(self, packet: Packet) -> None:
        raise IndexError("cut short")

    async def finish(self) -> None:
        return

    def abort(self) -> None:
        return


async def test_a_packet_that_cannot_be_handed_over_ends_its_session_and_no_other() -> None:
    """Without a packet nothing waits, and a server that takes nothing would look connected."""
    fan_out = FanOut()
    session = StreamSession(SuppliedDestination(WANTED, fan_out, lambda: None), Unpackable())
    running = asyncio.create_task(session.run())
    await asyncio.sleep(0)
    fan_out.put(VIDEO_HEADER)
    fan_out.put(picture(0, b"k", key=True))
    with pytest.raises(IndexError):
        async with asyncio.timeout(10):
            await running
    await session.close()
