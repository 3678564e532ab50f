"""The page may join its room while a layout shows who is there, with a token that is always fresh."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr
from tests.support.loopback_server import on_loopback
from tests.support.scenes import ROOT, layout, scene
from tests.support.small_program import small_program
from tests.support.waiting import until

from onair_crds.contract.facade_paths import TOKEN_PATH
from onair_crds.contract.program import Program, ProgramRoomServer
from onair_crds.contract.scene import Canvas, PageRoom, SceneLayer, SceneState
from onair_encoder.scene import room_access
from onair_encoder.scene.room_access import NO_TOKEN, RoomAccess
from onair_encoder.scene.scene import Scene

GUEST = SceneLayer(id="left", type="webrtc", data={"webrtc": {"id": "anna", "type": "webcam"}})
SERVER = ProgramRoomServer.model_validate({"url": "http://rooms.example:7880", "token": "of the agent"})


class ScriptedRoomFacade:
    def __init__(self) -> None:
        self.status = 200
        self.exchanged = 200
        self.asked = self.refused = 0
        self.address = ""

    async def exchange(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer page-token"
        if self.exchanged != 200:
            self.refused += 1
            return web.json_response({"code": 16}, status=self.exchanged)
        return web.json_response({}, headers={"Authorization": "Bearer session"})

    async def join(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer session"
        self.asked += 1
        if self.status != 200:
            return web.json_response({"code": 9}, status=self.status)
        access = {"accessToken": f"room-{self.asked}", "participantId": "renderer-1"}
        return web.json_response({"webrtcAccess": access})


@pytest.fixture
async def scripted_facade(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedRoomFacade]:
    monkeypatch.setattr(room_access, "RENEW_S", 0.05)
    monkeypatch.setattr(room_access, "RETRY_S", 0.01)
    monkeypatch.setattr(room_access, "RETRY_LATE_S", 0.01)
    scripted_facade, app = ScriptedRoomFacade(), web.Application()
    app.router.add_put(TOKEN_PATH, scripted_facade.exchange)
    app.router.add_post("/live/v2/collection/sunday/project/show/webrtc/token", scripted_facade.join)
    async with on_loopback(app) as scripted_facade.address:
        yield scripted_facade


@pytest.fixture
def unavailable_facade(
    scripted_facade: ScriptedRoomFacade, monkeypatch: pytest.MonkeyPatch
) -> ScriptedRoomFacade:
    """One that responds with 503; who waits for longer than until the next attempt waits in vain."""
    monkeypatch.setattr(room_access, "RETRY_LATE_S", 3600.0)
    scripted_facade.status = 503
    return scripted_facade


@pytest.fixture
async def told() -> list[PageRoom | None]:
    return []


@pytest.fixture
async def access(told: list[PageRoom | None]) -> AsyncIterator[RoomAccess]:
    access = RoomAccess(told.append)
    running = asyncio.create_task(access.run())
    yield access
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def program(facade: ScriptedRoomFacade, *layers: SceneLayer, **fields: Any) -> Program:
    wanted = {
        "collection": "sunday",
        "facade_url": facade.address,
        "page_token": SecretStr("page-token"),
        "scene": scene(layout(10, ROOT, *layers)),
    }
    return small_program(**{**wanted, **fields})


async def test_a_token_is_renewed_before_it_is_over(
    scripted_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None]
) -> None:
    access.want(program(scripted_facade, GUEST))
    await until(lambda: len([each for each in told if each]) >= 2)
    rooms = [each for each in told if each]
    assert rooms[0].url == "ws://127.0.0.1:8450/facade/webrtc/v2"
    assert [each.token.get_secret_value() for each in rooms[:2]] == ["room-1", "room-2"]


async def test_a_scene_without_guests_opens_no_room(
    scripted_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None]
) -> None:
    access.want(program(scripted_facade))
    access.want(program(scripted_facade, GUEST, page_token=None))
    await asyncio.sleep(0.02)
    assert scripted_facade.asked == 0
    access.want(program(scripted_facade, GUEST))
    await until(lambda: told and told[-1])
    access.want(program(scripted_facade))
    await until(lambda: told[-1] is None)


@pytest.mark.parametrize("status", [400, 403, 503])
async def test_what_is_refused_is_asked_again(
    scripted_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None], status: int
) -> None:
    scripted_facade.status = status
    access.want(program(scripted_facade, GUEST))
    await until(lambda: scripted_facade.asked > 1)
    assert not any(told)
    scripted_facade.status = 200
    await until(lambda: any(told))


@pytest.mark.parametrize(
    ("status", "none"), [(400, True), (403, True), (404, True), (429, False), (503, False)]
)
async def test_that_there_is_no_room_is_told_where_the_facade_says_so(
    scripted_facade: ScriptedRoomFacade,
    access: RoomAccess,
    told: list[PageRoom | None],
    status: int,
    none: bool,
) -> None:
    """A page leaves the room then; while the facade is unavailable it stays."""
    scripted_facade.status = status
    access.want(program(scripted_facade, GUEST))
    await until(lambda: scripted_facade.asked > 2)
    assert set(told) == ({None} if none else set())


async def test_a_room_that_was_joined_is_not_left_because_a_later_token_is_refused(
    scripted_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None]
) -> None:
    access.want(program(scripted_facade, GUEST))
    await until(lambda: any(told))
    scripted_facade.status, asked = 403, scripted_facade.asked
    await until(lambda: scripted_facade.asked > asked + 1)
    assert all(told)


@pytest.mark.parametrize("status", [401, 500, 503, None])
async def test_a_page_joins_without_a_token_while_the_facade_gives_none(
    scripted_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None], status: int | None
) -> None:
    address = "http://127.0.0.1:9"
    if status:
        scripted_facade.status, address = status, scripted_facade.address
    access.want(program(scripted_facade, GUEST, facade_url=address, room_server=SERVER))
    await until(lambda: any(told))
    [room] = told
    assert room
    assert room.url == "ws://127.0.0.1:8450/facade/webrtc/v2"
    assert room.token.get_secret_value() == NO_TOKEN
    scripted_facade.status = 200
    access.want(program(scripted_facade, GUEST, room_server=SERVER))
    await until(lambda: len(told) > 1)
    assert [each.token.get_secret_value() for each in told if each][1].startswith("room-")


async def test_a_page_that_joined_without_a_token_stays_while_the_room_server_is_known(
    scripted_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None]
) -> None:
    """A facade that comes back may not know the room yet."""
    scripted_facade.status = 503
    access.want(program(scripted_facade, GUEST, room_server=SERVER))
    await until(lambda: any(told))
    scripted_facade.status, asked = 404, scripted_facade.asked
    await until(lambda: scripted_facade.asked > asked + 2)
    assert all(told)
    access.want(program(scripted_facade, GUEST))
    await until(lambda: told[-1] is None)
    scripted_facade.status = 503
    access.want(program(scripted_facade, GUEST, room_server=SERVER))
    await until(lambda: told[-1] is not None)


async def test_a_page_joins_with_a_token_soon_after_it_joined_without(
    unavailable_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None]
) -> None:
    access.want(program(unavailable_facade, GUEST, room_server=SERVER))
    await until(lambda: any(told))
    unavailable_facade.status = 200
    await until(lambda: len(told) > 1)


async def test_a_page_whose_own_token_is_refused_does_not_join_without(
    scripted_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None]
) -> None:
    scripted_facade.exchanged = 401
    access.want(program(scripted_facade, GUEST, room_server=SERVER))
    await until(lambda: scripted_facade.refused > 2)
    assert not told


async def test_a_token_stays_where_a_later_one_is_not_given(
    scripted_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None]
) -> None:
    """It would do for a facade that comes back."""
    access.want(program(scripted_facade, GUEST, room_server=SERVER))
    await until(lambda: any(told))
    scripted_facade.status, asked = 503, scripted_facade.asked
    await until(lambda: scripted_facade.asked > asked + 2)
    assert NO_TOKEN not in {each.token.get_secret_value() for each in told if each}


async def test_a_server_that_becomes_known_lets_the_page_join_at_once(
    unavailable_facade: ScriptedRoomFacade, access: RoomAccess, told: list[PageRoom | None]
) -> None:
    access.want(program(unavailable_facade, GUEST))
    await until(lambda: unavailable_facade.asked == 1)
    access.want(program(unavailable_facade, GUEST, room_server=SERVER))
    await until(lambda: any(told))


async def test_before_a_programme_nothing_is_said_of_a_room(
    access: RoomAccess, told: list[PageRoom | None]
) -> None:
    """A restarted agent does not know yet, and its page may be in the room."""
    await asyncio.sleep(0.02)
    assert not told
    shown = Scene()
    shown.take(scene(layout(10)), Canvas(width=1, height=1))
    assert not shown.state().room_known
    said = shown.set_room(None)
    assert said is not None
    assert said.room_known


def test_a_new_token_is_told_whole_and_the_same_one_not_at_all() -> None:
    shown = Scene()
    shown.take(scene(layout(10)), Canvas(width=1, height=1))
    room = PageRoom(url="ws://a.example", token=SecretStr("of-the-room"))
    told = shown.set_room(room)
    assert isinstance(told, SceneState)
    assert told.room == room
    assert '"token":"of-the-room"' in told.wire()
    assert "of-the-room" not in repr(told)
    assert shown.set_room(room) is None
    assert shown.take(scene(layout(10)), Canvas(width=1, height=1)) == []
