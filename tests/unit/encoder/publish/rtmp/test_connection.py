"""Connections whose server ends them at once, or says more than it has to; and their last day."""

from __future__ import annotations

import asyncio
import errno
from collections import Counter
from typing import Any

import pytest
from tests.support.media.packets import picture

from onair_crds.rtmp.chunks import ABORT, SET_CHUNK_SIZE
from onair_crds.session_error import SessionError
from onair_encoder.publish.rtmp import connection as connection_module
from onair_encoder.publish.rtmp.address import RtmpAddress
from onair_encoder.publish.rtmp.connection import (
    FIRST_MEDIUM_MS,
    LAST_MS,
    LEAST_CHARGED_BYTES,
    MOST_SAID_BYTES,
    READ_BYTES,
    RtmpConnection,
)


class ClosedSocket:
    def setsockopt(self, *_: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")


class ClosedWriter:
    """Of a connection that the server has closed already."""

    def __init__(self) -> None:
        self.transport = self
        self.aborted = False

    def get_extra_info(self, _: str) -> ClosedSocket:
        return ClosedSocket()

    def abort(self) -> None:
        self.aborted = True


async def test_a_connection_that_is_closed_at_once_is_an_error_of_the_network() -> None:
    writer: Any = ClosedWriter()
    address = RtmpAddress.of("rtmps://a.example/live", "s3cret")
    with pytest.raises(SessionError, match=r"^a\.example:443: Bad file descriptor$"):
        await RtmpConnection.publish(address, (asyncio.StreamReader(), writer), 2048)
    assert writer.aborted


async def test_on_the_25th_day_a_session_is_worn_out_before_its_times_are() -> None:
    """Many servers hold times in 31 bits; the next session begins again at 0."""
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    for began_ms in (0, 2**33):
        streams = await asyncio.open_connection(host, port)
        connection = RtmpConnection(RtmpAddress.of("rtmp://a.example/live", "s3cret"), streams, 2048)
        connection.send(picture(began_ms, b"first", key=True))
        connection.send(picture(began_ms + LAST_MS - FIRST_MEDIUM_MS, b"in time"))
        assert not connection.worn_out
        connection.send(picture(began_ms + LAST_MS - FIRST_MEDIUM_MS + 1, b"late"))
        assert connection.worn_out
        connection.abort()
    server.close()


def chunk_head(type_: int, length: int) -> bytes:
    return bytes([3]) + bytes(3) + length.to_bytes(3, "big") + bytes([type_]) + bytes(4)


ONE_BYTE_CHUNKS = chunk_head(SET_CHUNK_SIZE, 4) + b"\0\0\0\1" + chunk_head(ABORT, 8) + b"x"


@pytest.mark.parametrize(
    ("said", "messages_per_chunk"),
    [
        (chunk_head(ABORT, 0) + b"\xc3" * 900_000, 1),
        (ONE_BYTE_CHUNKS + b"\xc3x" * 450_000, 1 / 8),
    ],
)
async def test_a_server_that_says_much_in_few_bytes_is_left_and_lets_others_have_their_turn(
    monkeypatch: pytest.MonkeyPatch, said: bytes, messages_per_chunk: float
) -> None:
    def say(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    monkeypatch.setattr(connection_module, "MOST_SAID_BYTES_PER_S", 0)
    server = await asyncio.start_server(say, "127.0.0.1", 0)
    streams = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=2 * len(said))
    connection = RtmpConnection(RtmpAddress.of("rtmp://a.example/live", "s3cret"), streams, 2048)
    turn, messages_of_turns = 0, Counter[int]()

    async def have_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(connection, "_message", lambda _: messages_of_turns.update([turn]))
    others = asyncio.create_task(have_turns())
    await connection._read()
    others.cancel()
    assert "sends more than a server has to say" in str(connection.closed.result())
    allowed = MOST_SAID_BYTES / LEAST_CHARGED_BYTES + READ_BYTES
    assert messages_of_turns.total() <= allowed * messages_per_chunk + 1
    assert max(messages_of_turns.values()) <= READ_BYTES
    connection.abort()
    server.close()
