"""How often a room is asked who is in it, and what becomes of those who are."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback
from tests.support.waiting import until

from onair_crds.contract.participant_roles import signed_role
from onair_crds.resources.enums import Role
from onair_crds.room_server.client import (
    MAX_LISTED_ROOMS,
    MAX_RESPONSE_BYTES,
    RoomServer,
    ServerParticipant,
    ServerRoom,
)
from onair_crds.room_server.credentials import RoomServerCredentials
from onair_operator.room import kept_rooms as rooms_module
from onair_operator.room.kept_rooms import QUIET_PASSES, KeptRooms
from onair_operator.room.plan import KeptRoom, RoomServerAccess

SECRET = "s" * 32
CAMERA = frozenset({("source-cam", "Camera")})


class FakeRoomServer:
    """One room that looks empty to those who list it, as the real server counts every few seconds."""

    def __init__(self) -> None:
        self.credentials = self
        self.known: RoomServerCredentials | None = None
        self.asked: Counter[str] = Counter()
        self.there: list[ServerParticipant] = []
        self.renamed: list[tuple[str, str, str]] = []

    async def get(self) -> RoomServerCredentials:
        self.known = RoomServerCredentials("key", SECRET)
        return self.known

    async def rooms(self, names: Sequence[str]) -> list[ServerRoom]:
        self.asked["rooms"] += 1
        return [ServerRoom("room", 1, 0)]

    async def participants(self, room: str) -> list[ServerParticipant]:
        self.asked["participants"] += 1
        return self.there

    async def rename(self, room: str, identity: str, name: str, metadata: str) -> None:
        self.renamed.append((identity, name, metadata))


@pytest.fixture
def server() -> FakeRoomServer:
    return FakeRoomServer()


async def passed(
    server: FakeRoomServer, wanted: KeptRoom, passes: int, monkeypatch: pytest.MonkeyPatch
) -> KeptRooms:
    """The rooms after so many passes."""
    monkeypatch.setattr(rooms_module, "INTERVAL_S", 0.0)
    rooms = KeptRooms(cast(Any, server))
    rooms.keep("room", wanted)
    running = asyncio.create_task(rooms.run())
    await until(lambda: server.asked["rooms"] > passes, f"{passes} passes", 5, poll_s=0)
    running.cancel()
    return rooms


async def test_a_room_that_looks_empty_is_asked_rarely(
    server: FakeRoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await passed(server, KeptRoom("show", 1, 1), 20, monkeypatch)
    assert server.asked["participants"] <= 2 + 20 // QUIET_PASSES


async def test_one_with_a_source_to_show_is_asked_each_time(
    server: FakeRoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await passed(server, KeptRoom("show", 1, 1, names=CAMERA), 20, monkeypatch)
    assert server.asked["participants"] >= 20


async def test_who_claims_another_role_is_given_their_own(
    server: FakeRoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = '{"displayName":"Ben","participantRole":"ROLE_HOST"}'

    def there(identity: str, role: Role, *, hidden: bool = False) -> ServerParticipant:
        attributes = signed_role(SECRET, "room", identity, role)
        return ServerParticipant(identity, "Ben", 1, hidden, (), (), claim, attributes, True, True)

    server.there = [
        there("anna", Role.HOST),
        there("ben", Role.GUEST),
        there("page", Role.GUEST, hidden=True),
    ]
    await passed(server, KeptRoom("show", 1, 1), 1, monkeypatch)
    assert server.renamed == [("ben", "Ben", claim.replace("HOST", "GUEST"))]


async def test_a_preview_with_another_name_is_renamed_and_nobody_else(
    server: FakeRoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.there = [
        ServerParticipant("source-cam", "Former", 1, False, (), metadata='{"displayName":"Former"}'),
        ServerParticipant("anna", "Anna", 1, False, (), ("TR_1",), '{"displayName":"Anna"}'),
    ]
    rooms = await passed(server, KeptRoom("show", 1, 1, names=CAMERA), 1, monkeypatch)
    assert server.renamed[0] == ("source-cam", "Camera", '{"displayName":"Camera"}')
    assert {identity for identity, *_ in server.renamed} == {"source-cam"}
    view = rooms.view("room")
    assert view
    assert len(view.participants) == 2


async def test_a_previews_metadata_names_its_video_once_that_is_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    joined = '{"displayName":"Camera"}'
    published = '{"displayName":"Camera","TR_1":{"displayName":"Camera"}}'
    for videos, metadata, written in (
        ((), joined, []),
        (("TR_1",), joined, [("source-cam", "Camera", published)]),
        (("TR_1",), published, []),
    ):
        server = FakeRoomServer()
        server.there = [ServerParticipant("source-cam", "Camera", 1, False, (), videos, metadata)]
        await passed(server, KeptRoom("show", 1, 1, names=CAMERA), 1, monkeypatch)
        assert server.renamed[:1] == written


async def test_how_the_server_is_reached_is_known_before_this_process_leads(server: FakeRoomServer) -> None:
    rooms = KeptRooms(cast(Any, server), leads=lambda: False)
    running = asyncio.create_task(rooms.run())
    await until(lambda: server.known, "the credentials are read")
    running.cancel()
    assert not server.asked


async def test_a_look_that_fails_does_not_end_the_looks(
    server: FakeRoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As what a room says of itself may be anything."""
    monkeypatch.setattr(rooms_module, "INTERVAL_S", 0.001)

    async def failing(names: Sequence[str]) -> list[ServerRoom]:
        server.asked["rooms"] += 1
        if server.asked["rooms"] < 3:
            raise RecursionError
        return [ServerRoom("room", 1, 0)]

    monkeypatch.setattr(server, "rooms", failing)
    rooms = KeptRooms(cast(Any, server))
    rooms.keep("room", KeptRoom("show", 1, 1))
    looking = asyncio.create_task(rooms.run())
    await until(lambda: rooms.view("room"), "the room is seen")
    looking.cancel()


async def test_a_room_that_cannot_be_looked_at_keeps_no_other_from_it(
    server: FakeRoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked(room: str) -> list[ServerParticipant]:
        if room == "odd":
            raise RecursionError
        return []

    async def both(names: Sequence[str]) -> list[ServerRoom]:
        return [ServerRoom(name, 1, 1) for name in ("odd", "room")]

    monkeypatch.setattr(rooms_module, "INTERVAL_S", 0.001)
    monkeypatch.setattr(server, "participants", asked)
    monkeypatch.setattr(server, "rooms", both)
    rooms = KeptRooms(cast(Any, server))
    for name in ("odd", "room"):
        rooms.keep(name, KeptRoom(name, 1, 1))
    looking = asyncio.create_task(rooms.run())
    seen = await until(lambda: rooms.view("room"), "the other is seen")
    odd = await until(lambda: rooms.view("odd"), "that it failed is known")
    looking.cancel()
    assert (seen.error, odd.error) == (None, "internal error (RecursionError)")


class ReadCredentials:
    """Credentials as they are read from their Secret."""

    def __init__(self) -> None:
        self.known: RoomServerCredentials | None = None


def test_how_the_server_is_reached_is_known_once_its_credentials_are() -> None:
    assert KeptRooms().access is None
    reader = ReadCredentials()
    rooms = KeptRooms(RoomServer("http://rooms.svc:7880/", cast(Any, reader)))
    assert rooms.access is None
    reader.known = RoomServerCredentials("key", SECRET)
    assert rooms.access == RoomServerAccess("http://rooms.svc:7880", reader.known)


class RoomServerThatIsSlowToList(FakeRoomServer):
    """Its list is of a moment before the room was opened again."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: KeptRooms | None = None
        self.deleted: list[str] = []

    async def rooms(self, names: Sequence[str]) -> list[ServerRoom]:
        assert self.kept
        self.kept.keep("room", KeptRoom("show", 6, 6))
        return [ServerRoom("room", 5, 2)]

    async def delete(self, room: str) -> None:
        self.deleted.append(room)


async def test_a_room_that_was_opened_again_while_rooms_were_listed_is_not_closed() -> None:
    server = RoomServerThatIsSlowToList()
    rooms = server.kept = KeptRooms(cast(Any, server))
    rooms.keep("room", KeptRoom("show", None, 5))
    await rooms._pass(cast(Any, server))
    assert server.deleted == []


class ServerOfManyRooms:
    """Lists rooms of livekit-server's size: those that are named, or all."""

    def __init__(self, rooms: Sequence[str]) -> None:
        codecs = [{"mime": f"video/codec-{n}", "fmtp_line": ""} for n in range(11)]
        room = {"sid": "RM_Zr8fLH4drPEM", "metadata": '{"onairOpening": 5}', "enabled_codecs": codecs}
        self.rooms: dict[str, Any] = {
            name: {"name": name, **room, "turn_password": "p" * 43} for name in rooms
        }
        self.failing: set[str] = set()

    async def respond(self, request: web.Request) -> web.Response:
        assert request.path.endswith("/ListRooms")
        named = (await request.json()).get("names") or list(self.rooms)
        status = 500 if self.failing.intersection(named) else 200
        return web.json_response({"rooms": [self.rooms[name] for name in named]}, status=status)


class KnownCredentials:
    """Credentials that no API server is asked for."""

    known = RoomServerCredentials("key", SECRET)

    async def get(self) -> RoomServerCredentials:
        return self.known


@pytest.mark.parametrize("failing", [set(), {"room-00007"}], ids=["all", "but those of one list"])
async def test_more_rooms_than_fit_into_one_list_are_looked_at(failing: set[str]) -> None:
    names = [f"room-{number:05}" for number in range(7000)]
    far = ServerOfManyRooms(names)
    far.failing = failing
    assert len(json.dumps([*far.rooms.values()])) > MAX_RESPONSE_BYTES
    app = web.Application()
    app.router.add_post("/{path:.*}", far.respond)
    async with on_loopback(app) as address:
        server = RoomServer(address, cast(Any, KnownCredentials()))
        rooms = KeptRooms(server)
        for name in names:
            # Of a later opening than this: nothing more is asked for the room
            rooms.keep(name, KeptRoom(name, None, 1))
        await rooms._pass(server)
        await rooms.close()
    errors = [view.error for name in names if (view := rooms.view(name))]
    assert len(errors) == len(names)
    assert sum(error is not None for error in errors) == (MAX_LISTED_ROOMS if failing else 0)


async def test_surplus_attributes_are_cleared_and_whoever_is_oversized_is_removed() -> None:
    done: list[tuple[str, str, str]] = []

    class RecordingRoomServer(FakeRoomServer):
        async def clear_attributes(self, room: str, identity: str) -> None:
            done.append(("clear", room, identity))

        async def remove(self, room: str, identity: str) -> None:
            done.append(("remove", room, identity))

    server = RecordingRoomServer()
    attributes = signed_role(SECRET, "room", "ben", Role.GUEST)
    metadata = '{"displayName":"Ben","participantRole":"ROLE_GUEST"}'
    server.there = [
        ServerParticipant("ben", "Ben", 1, False, (), (), metadata, attributes, True, True, True),
        ServerParticipant("eve", "", 0, False, (), is_oversized=True),
    ]
    rooms = KeptRooms(cast(Any, server))
    rooms.keep("room", KeptRoom("show", 1, 1))
    await rooms._pass(cast(Any, server))
    assert done == [("clear", "room", "ben"), ("remove", "room", "eve")]
    assert server.renamed == []
    view = rooms.view("room")
    assert view
    assert [each.identity for each in view.participants] == ["ben"]
