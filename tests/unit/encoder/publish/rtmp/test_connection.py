"""A connection that ends before anything was sent on it."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest
from tests.support.media.packets import picture

from onair_crds.session_error import SessionError
from onair_encoder.publish.rtmp.address import RtmpAddress
from onair_encoder.publish.rtmp.connection import FIRST_MEDIUM_MS, LAST_MS, RtmpConnection


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
