"""A connection that ends before anything was sent on it."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest

from onair_crds.session_error import SessionError
from onair_encoder.publish.rtmp.address import RtmpAddress
from onair_encoder.publish.rtmp.connection import RtmpConnection


class ClosedSocket:
    def setsockopt(self, *_: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")


class Writer:
    """Of a connection that the server has closed already."""

    def __init__(self) -> None:
        self.transport = self
        self.aborted = False

    def get_extra_info(self, _: str) -> ClosedSocket:
        return ClosedSocket()

    def abort(self) -> None:
        self.aborted = True


async def test_a_connection_that_is_closed_at_once_is_an_error_of_the_network() -> None:
    writer: Any = Writer()
    address = RtmpAddress.of("rtmps://a.example/live", "s3cret")
    with pytest.raises(SessionError, match=r"^a\.example:443: Bad file descriptor$"):
        await RtmpConnection.publish(address, (asyncio.StreamReader(), writer), 2048)
    assert writer.aborted
