"""The `connect` of MediaMTX' RTMP client, as a relay passes it on."""

from __future__ import annotations

import asyncio

import pytest

from onair_ingest.pulls.connect_message import NotRtmp, relay_connect

HANDSHAKE = b"\x03" + bytes(1536) + bytes(1536)
SET_CHUNK_SIZE = b"\x02" + bytes(3) + b"\x00\x00\x04" + b"\x01" + bytes(4) + (65_536).to_bytes(4, "big")


def text(value: str) -> bytes:
    return len(value).to_bytes(2, "big") + value.encode()


def connect(tc_url: str) -> bytes:
    body = b"\x02" + text("connect") + b"\x00" + bytes(8) + b"\x03" + text("app") + b"\x02" + text("live")
    body += text("tcUrl") + b"\x02" + text(tc_url) + text("fpad") + b"\x01\x00" + b"\x00\x00\x09"
    return b"\x03" + bytes(3) + len(body).to_bytes(3, "big") + b"\x14" + bytes(4) + body


async def relayed(sent: bytes) -> bytes:
    reader, passed_on = asyncio.StreamReader(), bytearray()
    reader.feed_data(sent)
    reader.feed_eof()
    await relay_connect(reader, passed_on.extend, "rtmp://127.0.0.1:4000", "rtmps://media.example.org")
    return bytes(passed_on) + await reader.read()


async def test_a_server_is_called_by_its_own_name() -> None:
    sent = HANDSHAKE + SET_CHUNK_SIZE + connect("rtmp://127.0.0.1:4000/live") + b"the rest"
    expected = HANDSHAKE + SET_CHUNK_SIZE + connect("rtmps://media.example.org/live") + b"the rest"
    assert await relayed(sent) == expected


async def test_what_mediamtx_adds_to_answer_a_challenge_is_kept() -> None:
    sent = HANDSHAKE + SET_CHUNK_SIZE + connect("rtmp://127.0.0.1:4000/live?authmod=adobe&user=u")
    assert b"rtmps://media.example.org/live?authmod=adobe&user=u" in await relayed(sent)


async def test_another_client_is_not_relayed() -> None:
    for sent in (
        HANDSHAKE + connect("rtmp://127.0.0.1:4000/" + "x" * 200),  # more than one chunk
        HANDSHAKE + b"\xc3" + bytes(20),
    ):
        with pytest.raises(NotRtmp):
            await relayed(sent)


async def test_a_client_that_leaves_is_noticed() -> None:
    with pytest.raises(asyncio.IncompleteReadError):
        await relayed(HANDSHAKE[:100])
