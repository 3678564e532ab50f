"""Streams of HTTP/2 whose clients read slowly, or nothing; of real connections."""

from __future__ import annotations

import asyncio

import pytest
from hypercorn.asyncio.worker_context import EventWrapper
from hypercorn.protocol.h2 import BUFFER_HIGH_WATER
from tests.support.http2_client import MAX_WINDOW_BYTES, WINDOW_BYTES, Http2Client, connections, serving
from tests.support.long_responses import CHUNK_BYTES, CHUNKS, GIVEN_UP, WHOLE, LongResponses
from tests.support.waiting import until

from onair_api.connection import http2_streams
from onair_api.connection.http2_streams import UnsentResponse


@pytest.fixture
def responses() -> LongResponses:
    return LongResponses()


async def test_a_response_waits_for_its_client_which_may_read_later(responses: LongResponses) -> None:
    async with serving(responses) as server, Http2Client(server, 0) as client:
        asked = await client.ask(body=b"")
        for _ in range(2 * CHUNKS):
            await client.roundtrip()
        assert 0 < responses.sent_bytes[0] <= BUFFER_HIGH_WATER
        await client.open_window(len(WHOLE))
        await client.open_window(len(WHOLE), asked)
        await until(lambda: asked in client.completed, "it has all")
        assert client.received[asked] == WHOLE


async def test_a_slow_client_gets_all_of_it_in_order(responses: LongResponses) -> None:
    async with serving(responses) as server, Http2Client(server, 0) as client:
        asked, opened_bytes = await client.ask(body=b""), 0
        await client.open_window(len(WHOLE))
        while asked not in client.completed:
            await client.open_window(5000, asked)
            opened_bytes += 5000
            await client.roundtrip()
            assert responses.sent_bytes[0] <= opened_bytes + BUFFER_HIGH_WATER
        assert client.received[asked] == WHOLE


async def test_streams_that_are_not_read_hold_up_no_other(responses: LongResponses) -> None:
    async with serving(responses) as server, Http2Client(server, 0) as client:
        await client.open_window(MAX_WINDOW_BYTES - WINDOW_BYTES)
        unread = [await client.ask(body=b"") for _ in range(99)]
        asked = await client.ask(body=b"")
        await client.open_window(len(WHOLE), asked)
        await until(lambda: asked in client.completed, "it has all")
        assert client.received[asked] == WHOLE
        assert not any(client.received[each] for each in unread)
        assert all(sent <= BUFFER_HIGH_WATER for sent in responses.sent_bytes[:-1])


async def test_all_wait_for_the_window_of_their_connection(responses: LongResponses) -> None:
    async with serving(responses) as server, Http2Client(server, MAX_WINDOW_BYTES) as client:
        asked = [await client.ask(body=b"") for _ in range(3)]
        for _ in range(2 * CHUNKS):
            await client.roundtrip()
        assert sum(map(len, client.received.values())) == WINDOW_BYTES
        assert sum(responses.sent_bytes) <= WINDOW_BYTES + 3 * BUFFER_HIGH_WATER
        await client.open_window(3 * len(WHOLE))
        await until(lambda: client.completed == set(asked), "they have all")
        assert all(client.received[each] == WHOLE for each in asked)


async def test_a_stream_is_cut_without_its_connection(responses: LongResponses) -> None:
    async with serving(responses) as server, Http2Client(server, 0) as client:
        cut, other = await client.ask(body=b""), await client.ask(body=b"")
        await until(lambda: len(responses.streams) == 2 and all(responses.sent_bytes), "both are sent")
        stream = responses.streams[0]
        assert stream
        assert not stream.is_closing()
        for _ in range(2):
            stream.abort()
        await until(lambda: responses.told, "its application goes on")
        assert stream.is_closing()
        assert responses.told == [{"type": "http.disconnect"}]
        await client.open_window(len(WHOLE))
        await client.open_window(len(WHOLE), other)
        await until(lambda: other in client.completed, "the other has all")
        assert client.resets == {cut: 8}
        assert client.received == {other: WHOLE}


async def test_a_response_ends_whose_client_gives_it_up(responses: LongResponses) -> None:
    async with serving(responses) as server, Http2Client(server, 0) as client:
        asked = await client.ask(body=b"")
        await until(lambda: responses.sent_bytes == [CHUNK_BYTES], "it waits")
        await client.reset(asked)
        await until(lambda: responses.told == [{"type": "http.disconnect"}], "its application goes on")
        await client.roundtrip()
        assert not client.resets


async def test_a_response_that_its_application_gives_up_is_cut(responses: LongResponses) -> None:
    async with serving(responses) as server, Http2Client(server) as client:
        asked = await client.ask(GIVEN_UP, body=b"")
        await until(lambda: client.resets == {asked: 8}, "its client is told")


@pytest.mark.parametrize("path", ["of chunks", "of the refusal"])
async def test_a_response_of_which_nothing_is_taken_is_cut(
    responses: LongResponses, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(http2_streams, "UNREAD_TIMEOUT_S", 0.2)
    async with serving(responses) as server, Http2Client(server, 0) as client:
        kind = "application/grpc" if path == "of chunks" else "text/plain"
        asked = await client.ask(body=b"", content_type=kind)
        await until(lambda: client.resets == {asked: 8}, "it is cut")
        await client.roundtrip()
        assert not client.is_closed


async def test_a_slow_client_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2_streams, "UNREAD_TIMEOUT_S", 0)
    cut = asyncio.Event()
    unsent = UnsentResponse(EventWrapper, cut.set)
    pushed = asyncio.create_task(unsent.push(bytes(BUFFER_HIGH_WATER)))
    for _ in range(1000):
        await unsent.pop(1)
        await asyncio.sleep(0)
    assert not cut.is_set()
    assert not pushed.done()
    await until(cut.is_set, "it is cut as nothing is taken any more")
    await unsent.close()
    await pushed


@pytest.mark.parametrize("frames", range(8, 16))
async def test_what_is_sent_after_a_response_holds_up_nobody(responses: LongResponses, frames: int) -> None:
    """A refusal is complete before anything of the request is received."""
    async with serving(responses) as server:
        async with Http2Client(server, MAX_WINDOW_BYTES) as client:
            await client.open_window(MAX_WINDOW_BYTES - WINDOW_BYTES)
            refused = await client.ask(content_type="text/plain")
            await client.say(refused, *[b"x"] * frames)
            await until(lambda: refused in client.completed, "it is refused")
            await client.roundtrip()
            asked = await client.ask(body=b"")
            await until(lambda: asked in client.completed, "the connection serves others")
            assert client.received[asked] == WHOLE
        await until(lambda: not connections(), "it is gone")
