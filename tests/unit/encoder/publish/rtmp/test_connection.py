"""Connections whose server ends them at once, or says more than it has to; their last day; their progress."""

from __future__ import annotations

import asyncio
import errno
from collections import Counter
from typing import Any

import pytest
from tests.support.media.packets import picture

from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.rtmp.chunks import ABORT, ACKNOWLEDGEMENT, SET_CHUNK_SIZE, RtmpMessage
from onair_crds.session_error import SessionError
from onair_encoder.publish.rtmp import connection as connection_module
from onair_encoder.publish.rtmp.acknowledgements import SLACK_BYTES
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


WINDOW, FRAME_BYTES, RARELY_BYTES = 20_000, 5_000, 100_000
RECORD_BYTES = 150
"""So much more than TLS adds to a frame, that few frames show what it adds up to."""
HANDSHAKES_BYTES = 4_000


class TlsLink:
    """The writer, transport and socket of a connection, what its kernel knows, and the server behind it.

    The last `in_flight` bytes are on their way whenever they are looked at.
    """

    round_trip_ms = 10.0

    def __init__(self, in_flight: int) -> None:
        self.transport = self
        self.in_flight = in_flight
        self.written, self.encrypted, self.acknowledged = 0, HANDSHAKES_BYTES, 0
        self.hangs = False
        made: Any = self
        self.connection = RtmpConnection(
            RtmpAddress.of("rtmps://a.example/live", "s3cret"), (asyncio.StreamReader(), made), WINDOW
        )
        self.connection._tcp = made

    def get_extra_info(self, _: str) -> TlsLink:
        return self

    def setsockopt(self, *_: object) -> None:
        """Takes any option."""

    def set_write_buffer_limits(self, *, high: int) -> None:
        """Takes any limit."""

    def get_write_buffer_size(self) -> int:
        return 0

    def writelines(self, pieces: list[bytes]) -> None:
        size = sum(map(len, pieces))
        self.written += size
        self.encrypted += size + RECORD_BYTES
        if not self.hangs:
            self.acknowledged = max(self.acknowledged, self.encrypted - self.in_flight)

    @property
    def unacknowledged(self) -> int:
        return self.encrypted - self.acknowledged

    def sends_frames(self, count: int) -> list[int]:
        """Sends so many; what the server is known to have taken after each of them."""
        taken = []
        for number in range(count):
            self.connection.send(picture(number, bytes(FRAME_BYTES)))
            taken.append(self.connection.acknowledged)
        return taken

    def says_what_it_has(self) -> None:
        """The server acknowledges by RTMP what it has received."""
        total = self.written - self.in_flight
        self.connection._message(RtmpMessage(ACKNOWLEDGEMENT, 0, 0, total.to_bytes(4, "big")))

    def streams_for(self, gaps: int) -> None:
        """The server acknowledges so many times, and each frame in between is progress."""
        for gap in range(gaps):
            taken = self.sends_frames(RARELY_BYTES // FRAME_BYTES)
            assert len(set(taken)) == len(taken), f"progress after {gap} acknowledgements"
            assert taken == sorted(taken)
            self.says_what_it_has()


LONG = 8 * RARELY_BYTES // (RECORD_BYTES * RARELY_BYTES // FRAME_BYTES)
"""After so many acknowledgements TLS has added several times what an acknowledgement may be late by."""


@pytest.mark.parametrize("in_flight", [1_400, 2 * RARELY_BYTES])
async def test_what_tls_adds_does_not_hide_the_progress_of_a_server_that_acknowledges_rarely(
    in_flight: int,
) -> None:
    """On a long link some of what was sent is always on its way, and nothing says which bytes are of TLS."""
    link = TlsLink(in_flight)
    link.sends_frames(in_flight // FRAME_BYTES + 1)
    link.streams_for(LONG)
    assert link.encrypted - link.written > 3 * RARELY_BYTES
    assert link.connection.acknowledged <= link.written


async def test_a_server_that_stops_taking_bytes_makes_no_progress_after_long() -> None:
    link = TlsLink(1_400)
    link.sends_frames(1)
    link.streams_for(LONG)
    taken = link.connection.acknowledged
    link.hangs = True
    assert max(link.sends_frames(LONG)) <= taken
    assert not link.connection.idle


async def test_a_server_whose_tcp_alone_goes_on_makes_no_progress_after_long() -> None:
    link = TlsLink(1_400)
    link.sends_frames(1)
    link.streams_for(LONG)
    by_server = link.connection._acknowledgements.acknowledged
    taken = link.sends_frames(10 * RARELY_BYTES // FRAME_BYTES)
    assert taken[-1] == taken[len(taken) // 2] <= by_server + RARELY_BYTES * 2 + SLACK_BYTES
    link.in_flight = 0
    link.sends_frames(1)
    assert not link.connection.unsent + link.unacknowledged
    assert not link.connection.idle, "an acknowledgement is due"
