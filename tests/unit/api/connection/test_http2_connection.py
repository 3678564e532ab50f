"""How connections of HTTP/2 end: those without a request, and those whose clients read nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.support.http2_client import MAX_WINDOW_BYTES, WINDOW_BYTES, Http2Client, connections, serving
from tests.support.long_responses import WHOLE, LongResponses
from tests.support.waiting import TIMEOUT_S, until

from onair_api.connection import http_connection
from onair_api.rpc import native
from onair_api.rpc.native import NativeServer

REQUESTS = 50
"""Whose responses fill the systems' buffers of both sides."""


@asynccontextmanager
async def unread() -> AsyncIterator[NativeServer]:
    """A server, and a connection with open windows whose client does not read."""
    responses = LongResponses()
    async with serving(responses) as server, Http2Client(server, MAX_WINDOW_BYTES) as client:
        await client.open_window(MAX_WINDOW_BYTES - WINDOW_BYTES)
        await client.roundtrip()
        client.stop_reading()
        for _ in range(REQUESTS):
            await client.ask(body=b"")
        await until(lambda: len(responses.sent_bytes) == REQUESTS, "it is asked")
        yield server


async def test_a_connection_of_which_nothing_is_read_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "UNREAD_TIMEOUT_S", 0.2)
    async with unread():
        await until(lambda: not connections(), "it is gone")


ENDS = ("with a response", "with a refusal", "by its client", "by the server")
WEBSOCKETS = ("as a WebSocket", "as a WebSocket of no version")


@pytest.mark.parametrize("ended", [*ENDS, *WEBSOCKETS])
async def test_a_connection_is_idle_again_however_its_request_ended(
    monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    monkeypatch.setattr(native, "KEEP_ALIVE_S", 1.0)
    responses = LongResponses()
    async with serving(responses) as server, Http2Client(server, 0) as client:
        if ended in WEBSOCKETS:
            head = {":method": "CONNECT", ":protocol": "websocket", ":scheme": "http", ":authority": "onair"}
            version = {"sec-websocket-version": "13"} if ended == WEBSOCKETS[0] else {}
            asked = await client.begin(head | {":path": "/"} | version)
        else:
            kind = "text/plain" if ended == "with a refusal" else "application/grpc"
            asked = await client.ask(body=b"", content_type=kind)
        if ended.startswith("with "):
            await client.open_window(len(WHOLE))
            await client.open_window(len(WHOLE), asked)
            await until(lambda: asked in client.completed, "it has its response")
        elif ended == "by its client":
            await until(lambda: any(responses.sent_bytes), "it is served")
            await client.reset(asked)
        else:
            if ended == "by the server":
                await until(lambda: responses.streams, "it is served")
                assert responses.streams[0]
                responses.streams[0].abort()
            await until(lambda: asked in client.resets, "it is cut")
        await until(lambda: not connections(), "it is closed, as any that has no request under way")


async def test_a_server_ends_of_which_nothing_is_read() -> None:
    async with unread() as server:
        async with asyncio.timeout(TIMEOUT_S):
            await server.stop()
        assert not connections()
