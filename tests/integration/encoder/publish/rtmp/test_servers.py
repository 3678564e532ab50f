"""RTMP servers with habits and words of their own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.support.delivery.scripted_rtmp import ScriptedRtmp, agree, feed
from tests.support.delivery.watched import WatchedDelivery
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination
from onair_crds.rtmp import amf
from onair_encoder.media.fan_out import FanOut

TIMEOUT_MS = 300
BYTES_PER_S = 200_000
RARE_ACK_BYTES = 120_000
"""Twice as much as comes within the timeout: as 2.5 MB are where 2 Mbit/s meet a timeout of 5 s."""


def rtmp(server: ScriptedRtmp, timeout_ms: int = TIMEOUT_MS) -> ProgramDestination:
    url = f"rtmp://127.0.0.1:{server.port}/live/s3cret"
    return ProgramDestination(id="one", type="RTMP", url=url, timeout_ms=timeout_ms)


@contextlib.asynccontextmanager
async def watched(*wanted: ProgramDestination) -> AsyncIterator[WatchedDelivery]:
    fan_out = FanOut()
    feeding = asyncio.create_task(feed(fan_out, BYTES_PER_S))
    found = WatchedDelivery(fan_out)
    found.want(*wanted)
    try:
        yield found
    finally:
        feeding.cancel()
        found.delivery.abort()


async def until_received(server: ScriptedRtmp, more_bytes: int) -> None:
    enough = server.received + more_bytes
    await until(lambda: server.received >= enough, f"{more_bytes} more bytes are received", 15)


async def test_a_server_that_acknowledges_less_often_than_the_timeout_stays_connected() -> None:
    async with ScriptedRtmp(RARE_ACK_BYTES) as server, watched(rtmp(server)) as found:
        await found.connected("one")
        await until_received(server, 6 * RARE_ACK_BYTES)
        assert not found.errors("one")
        assert server.sessions == 1


async def test_a_server_that_stops_acknowledging_has_stalled() -> None:
    """Its TCP goes on: what has hung is the program behind it, which a proxy hides."""
    async with ScriptedRtmp(20_000) as server, watched(rtmp(server)) as found:
        await found.connected("one")
        await until_received(server, 100_000)
        server.ack_bytes = 0
        await found.reports("one", f"stalled: 127.0.0.1:{server.port} took no bytes for")


async def test_a_server_that_stops_reading_has_stalled_whatever_its_habits() -> None:
    async with ScriptedRtmp(RARE_ACK_BYTES) as server, watched(rtmp(server)) as found:
        await found.connected("one")
        await until_received(server, 4 * RARE_ACK_BYTES)
        server.reads = False
        await found.reports("one", f"stalled: 127.0.0.1:{server.port} took no bytes for")
        server.reads = True
        await found.connected("one")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"code": "NetStream.Publish.BadName", "level": "error"}, "refuses the stream key, or it is in use"),
        ({"code": "NetStream.Unpublish.Success", "level": "status"}, "the server ended the stream"),
        ({"code": "X", "level": "error", "description": "s3cret is over quota"}, "refused: … is over quota"),
    ],
)
async def test_a_stream_that_the_server_ends_later_has_its_reason(
    status: dict[str, object], words: str
) -> None:
    async with ScriptedRtmp() as server, watched(rtmp(server)) as found:
        await found.connected("one")
        server.say("onStatus", 0, None, status)
        await found.reports("one", words)
        await found.until(lambda: found.state("one").attempts > 1)


async def test_a_server_that_talks_without_end_is_left() -> None:
    """What it says would be parsed while the other streams of the show wait."""
    async with ScriptedRtmp() as server, watched(rtmp(server)) as found:
        await found.connected("one")
        for _ in range(20_000):
            server.say("onBWDone", 0, "x" * 80)
        await found.reports("one", "sends more than a server has to say to a publisher")


@pytest.mark.parametrize("refused", ["connect", "createStream", "publish"])
async def test_an_error_has_its_reason(refused: str) -> None:
    def respond(command: list[Any]) -> list[bytes]:
        if command[0] == refused:
            return [amf.encode("_error", command[1], None, {"description": "s3cret: no room"})]
        return agree(command)

    async with ScriptedRtmp(respond=respond) as server, watched(rtmp(server)) as found:
        await found.reports("one", f"127.0.0.1:{server.port} refused: …: no room")


@pytest.mark.parametrize(
    "hostile", [b"\x03\0\x01a" * 10_000, amf.encode("x" * 70_000), b"\xff"], ids=["nested", "long", "not AMF"]
)
async def test_what_is_no_command_ends_the_connection_and_nothing_else(hostile: bytes) -> None:
    async with ScriptedRtmp(respond=lambda _: [hostile]) as server, watched(rtmp(server)) as found:
        await found.reports("one", "the response does not follow the protocol")


@pytest.mark.parametrize(
    "values",
    [("_result",), ("_error",), ("_error", "1", None), ("onStatus",), ("onStatus", 0, None, "?"), (1,)],
)
async def test_a_command_that_says_nothing_is_passed_over(values: tuple[object, ...]) -> None:
    def respond(command: list[Any]) -> list[bytes]:
        return [amf.encode(*values), *agree(command)]

    async with ScriptedRtmp(respond=respond) as server, watched(rtmp(server)) as found:
        await found.connected("one")
        assert not found.errors("one")
