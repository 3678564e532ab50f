"""A room server that says what none says costs one refused request, and neither memory nor a secret."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback

from onair_crds.contract.participant_roles import ATTRIBUTE
from onair_crds.room_server import client
from onair_crds.room_server.client import (
    MAX_ATTRIBUTES_CHARACTERS,
    MAX_LISTED_ROOMS,
    MAX_METADATA_CHARACTERS,
    MAX_RESPONSE_BYTES,
    RoomServer,
    ServerParticipant,
)
from onair_crds.room_server.credentials import CredentialsReader, RoomServerCredentials
from onair_crds.room_server.errors import RoomServerError
from onair_crds.shapes import JsonObject

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
        await rooms.rooms(["room"])


async def test_a_response_that_is_nested_without_end_is_an_error(
    server: tuple[HostileRoomServer, RoomServer],
) -> None:
    far, rooms = server
    far.body = b"[" * 100_000
    with pytest.raises(RoomServerError, match="does not respond to ListRooms"):
        await rooms.rooms(["room"])


async def test_no_redirect_is_followed(server: tuple[HostileRoomServer, RoomServer]) -> None:
    far, rooms = server
    far.redirects = True
    with pytest.raises(RoomServerError, match="HTTP 307") as refused:
        await rooms.rooms(["room"])
    assert far.elsewhere == 0
    assert SECRET not in str(refused.value)


@asynccontextmanager
async def listing(*parts: bytes) -> AsyncIterator[RoomServer]:
    """A room server that responds with these parts."""

    async def respond(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            for part in parts:
                await response.write(part)
        except ConnectionError:  # it was left
            pass
        return response

    app = web.Application()
    app.router.add_post("/{path:.*}", respond)
    async with on_loopback(app) as address:
        rooms = RoomServer(address, cast(Any, Known()))
        yield rooms
        await rooms.close()


def listed(participants: list[dict[str, Any]]) -> bytes:
    return json.dumps({"participants": participants}).encode()


async def test_guests_who_say_all_they_may_of_themselves_do_not_hide_who_is_in_the_room() -> None:
    """As the room server escapes what they say: sixfold."""
    says = {"metadata": "\x01" * 62_000, "attributes": {"a": "\x01" * 60_000, ATTRIBUTE: "role"}}
    there = [{"identity": f"eve#{n}", "name": "Eve", "joined_at": "5", **says} for n in range(20)]
    there += [{"identity": "anna", "name": "Anna", "joined_at": "4", "metadata": "{}"}]
    assert len(listed(there)) > 3 * MAX_RESPONSE_BYTES
    async with listing(listed(there)) as rooms:
        anna, *found = await rooms.participants("room")
    assert (anna.identity, anna.metadata, anna.has_surplus_attributes) == ("anna", "{}", False)
    assert {each.identity for each in found} == {f"eve#{n}" for n in range(20)}
    assert {each.metadata for each in found} == {""}
    assert all(each.has_surplus_attributes and each.attributes == {ATTRIBUTE: "role"} for each in found)


async def test_whoever_has_more_about_them_than_is_read_is_known_by_identity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "MAX_PARTICIPANTS_BYTES", MAX_RESPONSE_BYTES)
    tracks = [{"sid": f"TR_{n}", "name": "n" * 900_000} for n in range(10)]
    there: list[dict[str, Any]] = [{"sid": "PA_1", "identity": "eve", "tracks": tracks}]
    there += [{"sid": "PA_2", "identity": "anna"}]
    assert len(listed(there)) > 2 * MAX_RESPONSE_BYTES
    async with listing(listed(there)) as rooms:
        anna, eve = await rooms.participants("room")
    assert anna == ServerParticipant("anna", "", 0, False, ())
    assert (eve.identity, eve.is_oversized) == ("eve", True)


async def test_participants_without_end_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_PARTICIPANTS_BYTES", MAX_RESPONSE_BYTES)
    one = json.dumps({"identity": "eve", "metadata": "m" * 1_000_000}).encode()
    async with listing(b'{"participants":[', *[one + b","] * 16) as rooms:
        with pytest.raises(RoomServerError, match="does not respond to ListParticipants: ValueError"):
            await rooms.participants("room")


@pytest.mark.parametrize("end", [b"", b"]"])
async def test_a_list_that_is_cut_off_is_an_error(end: bytes) -> None:
    one = json.dumps({"identity": "eve", "metadata": "m" * 500_000}).encode()
    async with listing(b'{"participants":[', one, end) as rooms:
        with pytest.raises(RoomServerError, match="ValueError"):
            await rooms.participants("room")


@pytest.mark.parametrize("more", [0, 1])
async def test_what_is_kept_of_a_participant_is_bounded(more: int) -> None:
    metadata = "m" * (MAX_METADATA_CHARACTERS + more)
    attributes = {ATTRIBUTE: "role", "k": "v" * (MAX_ATTRIBUTES_CHARACTERS + more - len(ATTRIBUTE) - 5)}
    one = {"identity": "eve", "metadata": metadata, "attributes": attributes}
    async with listing(listed([one])) as rooms:
        (eve,) = await rooms.participants("room")
    assert eve.metadata == ("" if more else metadata)
    assert eve.attributes == ({ATTRIBUTE: "role"} if more else attributes)
    assert eve.has_surplus_attributes is bool(more)


def test_as_many_rooms_as_one_list_may_name_fit_into_a_response() -> None:
    assert MAX_LISTED_ROOMS * 8 * 1024 <= MAX_RESPONSE_BYTES


@pytest.mark.parametrize("padding", [0, client.MAX_SMALL_LIST_BYTES], ids=["small", "large"])
async def test_who_has_left_is_in_no_list(padding: int) -> None:
    there: list[JsonObject] = [{"identity": "anna", "state": "ACTIVE"}, {"identity": "ben", "state": 2}]
    left: list[JsonObject] = [{"identity": "eve", "state": "DISCONNECTED"}, {"identity": "bob", "state": 3}]
    async with listing(listed([*left, *there]) + b" " * padding) as rooms:
        assert [each.identity for each in await rooms.participants("room")] == ["anna", "ben"]
