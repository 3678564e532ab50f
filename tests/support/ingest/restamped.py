"""A publisher by RTMP whose timestamps are what a test makes of them, as no encoder would send them."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

from tests.support.ingest.encoder import AAC, X264, picture, tone

from onair_crds.contract.inside_addresses import EVERYWHERE
from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.media.flv import FlvReader, Packet
from onair_encoder.publish.rtmp.connection import RtmpConnection
from onair_encoder.publish.rtmp.output import open_streams

ACK_WINDOW = 2_500_000


def recorded(seconds: float, size: str = "320x180", interval: int = 30) -> list[Packet]:
    """What an encoder with OBS' defaults sends, 30 pictures a second, with a key frame every `interval`."""
    inputs = [part for each in (picture(size), tone()) for part in each]
    command = [
        "ffmpeg",
        "-nostdin",
        "-loglevel",
        "error",
        *inputs,
        "-t",
        str(seconds),
        *X264,
        "-g",
        str(interval),
    ]
    flv = subprocess.run([*command, *AAC, "-f", "flv", "-"], check=True, capture_output=True).stdout
    return list(FlvReader().feed(flv))


async def publish_restamped(
    server: str, key: str, packets: list[Packet], restamp: Callable[[int], int]
) -> None:
    """Sends packets when they are due, each with another time in milliseconds.

    Raises:
        ConnectionError: the server disconnected.
    """
    address = RtmpAddress.of(server, key)
    connection = await RtmpConnection.publish(address, await open_streams(address, EVERYWHERE), ACK_WINDOW)
    began_s = time.monotonic()
    try:
        for packet in packets:
            await asyncio.sleep(began_s + packet.timestamp_ms / 1000 - time.monotonic())
            if connection.over:
                raise ConnectionError("the server disconnected")
            connection.send(replace(packet, timestamp_ms=restamp(packet.timestamp_ms)))
    finally:
        connection.abort()
