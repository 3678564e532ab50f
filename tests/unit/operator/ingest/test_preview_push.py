"""How a gateway is handed its previews: until it has taken them, and nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import jwt
import pytest
from tests.support.waiting import until

from onair_crds.contract.previews import PREVIEWS_PATH, PreviewRooms, RoomPreviews
from onair_crds.room_server.credentials import RoomServerCredentials
from onair_operator.ingest import preview_push
from onair_operator.ingest.preview_push import PreviewPush
from onair_operator.ingest.shown_previews import GatewayRoomAccess, ShownPreviews, ShownSource
from onair_operator.ingest.unreachable import GatewayUnreachable

CAMERA = ShownSource("source-cam", "one", "stream", "Camera")
SHOWN = ShownPreviews(2, frozenset({CAMERA, ShownSource("source-far", "another", "far", "Far")}))
SECRET = "a secret of these tests, long enough"


class RecordingGateway:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.rooms: dict[str, RoomPreviews] = {}
        self.puts = 0
        self.fails = 0
        self.reachable = True

    async def request(self, method: str, path: str, body: str | None) -> str:
        if self.fails:
            self.fails -= 1
            raise GatewayUnreachable("HTTP 500")
        if method == "GET":
            return PreviewRooms(rooms=list(self.rooms)).wire()
        self.puts += 1
        wanted = RoomPreviews.model_validate_json(body or "")
        self.rooms[path.removeprefix(f"{PREVIEWS_PATH}/")] = wanted
        self.rooms = {room: each for room, each in self.rooms.items() if each.previews}
        return ""


class SomeCredentials:
    async def get(self) -> RoomServerCredentials:
        return RoomServerCredentials("key", SECRET)


@asynccontextmanager
async def pushing(gateway: RecordingGateway, *projects: str) -> AsyncIterator[PreviewPush]:
    access = GatewayRoomAccess(
        "http://rooms:7880", cast(Any, SomeCredentials()), lambda room: room in projects
    )
    push = PreviewPush("one", gateway.request, lambda: gateway.reachable, access)
    task = asyncio.create_task(push.run())
    try:
        yield push
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_gateway_gets_its_own_previews_with_tokens_and_nothing_twice() -> None:
    gateway = RecordingGateway()
    async with pushing(gateway, "room") as push:
        push.want("room", SHOWN)
        await until(lambda: gateway.puts)
        told = gateway.rooms["room"]
        assert (told.url, told.opening, list(told.previews)) == ("ws://rooms:7880", 2, ["stream"])
        token = told.previews["stream"].token.get_secret_value()
        claims = jwt.decode(token, SECRET, algorithms=["HS256"])
        assert (claims["sub"], claims["name"], claims["metadata"]) == (
            "source-cam",
            "Camera",
            '{"displayName":"Camera"}',
        )
        assert claims["video"]["canSubscribe"] is False
        push.want("room", SHOWN)
        push.want("empty", ShownPreviews(1))
        push.want("room", ShownPreviews(2))
        await until(lambda: not gateway.rooms)
        assert gateway.puts == 2


async def test_what_fails_is_tried_again() -> None:
    gateway = RecordingGateway()
    gateway.fails = 3
    async with pushing(gateway, "room") as push:
        push.want("room", SHOWN)
        await until(lambda: gateway.rooms)


async def test_a_gateway_that_was_restarted_is_told_again() -> None:
    gateway = RecordingGateway()
    async with pushing(gateway, "room") as push:
        push.want("room", SHOWN)
        await until(lambda: gateway.rooms)
        gateway.rooms.clear()
        push.reached()
        await until(lambda: gateway.rooms)


async def test_a_new_leader_ends_rooms_of_projects_that_are_gone_and_waits_with_all_others() -> None:
    gateway = RecordingGateway()
    async with pushing(gateway, "present", "gone") as push:
        push.want("present", SHOWN)
        push.want("gone", SHOWN)
        await until(lambda: len(gateway.rooms) == 2)
    async with pushing(gateway, "present") as push:
        await until(lambda: set(gateway.rooms) == {"present"})
        push.want("present", ShownPreviews(2))
        await until(lambda: not gateway.rooms)


async def test_a_change_of_one_room_is_no_look_at_all_others() -> None:
    gateway, looked = RecordingGateway(), 0
    gateway.rooms = {f"old-{number}": RoomPreviews(url="ws://rooms", opening=1) for number in range(50)}

    def exists(room: str) -> bool:
        nonlocal looked
        looked += 1
        return True

    access = GatewayRoomAccess("http://rooms:7880", cast(Any, SomeCredentials()), exists)
    push = PreviewPush("one", gateway.request, lambda: True, access)
    task = asyncio.create_task(push.run())

    def shows(room: str) -> bool:
        return room in gateway.rooms

    for number in range(20):
        room = f"new-{number}"
        push.want(room, SHOWN)
        await until(partial(shows, room))
    task.cancel()
    assert looked == 50


async def test_the_rooms_of_a_project_that_goes_show_nothing() -> None:
    gateway, projects = RecordingGateway(), ["room"]
    access = GatewayRoomAccess(
        "http://rooms:7880", cast(Any, SomeCredentials()), lambda room: room in projects
    )
    push = PreviewPush("one", gateway.request, lambda: True, access)
    task = asyncio.create_task(push.run())
    push.want("room", SHOWN)
    await until(lambda: gateway.rooms)
    projects.clear()
    push.forget("room")
    await until(lambda: not gateway.rooms)
    task.cancel()


async def test_tokens_are_renewed_before_they_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview_push, "RENEW_S", 0.02)
    gateway = RecordingGateway()
    async with pushing(gateway, "room") as push:
        push.want("room", SHOWN)
        await until(lambda: gateway.puts > 3)


async def test_nothing_is_said_while_another_process_leads() -> None:
    gateway = RecordingGateway()
    gateway.reachable = False
    async with pushing(gateway, "room") as push:
        push.want("room", SHOWN)
        await asyncio.sleep(0)
        assert not gateway.puts
        gateway.reachable = True
        push.reached()
        await until(lambda: gateway.puts)
