"""Publishers by RTMP that show keys which nobody has, as many a second as a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time

from tests.support.waiting import until

from onair_crds.contract.inside_addresses import EVERYWHERE
from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.media.flv import AUDIO, Packet
from onair_crds.session_error import SessionError
from onair_encoder.publish.rtmp.connection import RtmpConnection
from onair_encoder.publish.rtmp.output import open_streams

AAC_HEADER, SOUND = b"\xaf\x00\x11\x90", b"\xaf\x01sound"
"""48 kHz, stereo."""
ANALYSED_MS = 3000
"""The server looks at so much of a stream, at most, before it asks whether it may be published."""
ACK_WINDOW = 2_500_000
DISCONNECTED_S = 20.0


async def publish_with_wrong_keys(server: str, per_second: int, seconds: float) -> None:
    """Returns when the server has disconnected all of them."""
    async with asyncio.TaskGroup() as publishers:
        began_s = time.monotonic()
        for number in range(round(per_second * seconds)):
            await asyncio.sleep(began_s + number / per_second - time.monotonic())
            publishers.create_task(_publish(server))


async def _publish(server: str) -> None:
    address = RtmpAddress.of(server, secrets.token_hex(16))
    with contextlib.suppress(SessionError, OSError):
        connection = await RtmpConnection.publish(
            address, await open_streams(address, EVERYWHERE), ACK_WINDOW
        )
        try:
            connection.send(Packet(AUDIO, 0, AAC_HEADER))
            for at_ms in range(0, ANALYSED_MS, 200):
                connection.send(Packet(AUDIO, at_ms, SOUND))
            await until(lambda: connection.over, "it is disconnected", DISCONNECTED_S, poll_s=0.05)
        finally:
            connection.abort()
