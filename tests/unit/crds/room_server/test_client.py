"""A room server that says what none says costs one refused request, and neither memory nor a secret."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback

from onair_crds.room_server.client import MAX_RESPONSE_BYTES, RoomServer
from onair_crds.room_server.credentials import CredentialsReader, RoomServerCredentials
from onair_crds.room_server.errors import RoomServerError

SECRET = "s" * 32


class Known(CredentialsReader):
    """Credentials that no API server is asked for."""

    def __init__(self) -> None:
        pass

    async def get(self) -> RoomServerCredentials:
        return RoomServerCredentials("key", SECRET)


class HostileRoomServer:
    """Responds with `body`, or sends whoever asks elsewhere."""

    def __init__(self) -> None:
        self.body = b"{}"
        self.redirects = False
        self.elsewhere = 0

    async def respond(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/elsewhere":
            self.elsewhere += 1
        elif self.redirects:
            raise web.HTTPTemporaryRedirect("/elsewhere")
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            for _ in range(16):
                await response.write(self.body)
        except ConnectionError:  # it was left
            pass
        return response


@pytest.fixture
async def server() -> AsyncIterator[tuple[HostileRoomServer, RoomServer]]:
    far = HostileRoomServer()
    app = web.Application()
    app.router.add_post("/{path:.*}", far.respond)
    async with on_loopback(app) as address:
        rooms = RoomServer(address, cast(Any, Known()))
        yield far, rooms
        await rooms.close()


async def test_an_endless_response_is_not_kept(server: tuple[HostileRoomServer, RoomServer]) -> None:
    far, rooms = server
    far.body = b" " * MAX_RESPONSE_BYTES
    with pytest.raises(RoomServerError, match="ValueError"):
        await rooms.rooms()


async def test_a_response_that_is_nested_without_end_is_an_error(
    server: tuple[HostileRoomServer, RoomServer],
) -> None:
    far, rooms = server
    far.body = b"[" * 100_000
    with pytest.raises(RoomServerError, match="does not respond to ListRooms"):
        await rooms.rooms()


async def test_no_redirect_is_followed(server: tuple[HostileRoomServer, RoomServer]) -> None:
    far, rooms = server
    far.redirects = True
    with pytest.raises(RoomServerError, match="HTTP 307") as refused:
        await rooms.rooms()
    assert far.elsewhere == 0
    assert SECRET not in str(refused.value)
