"""Changes are followed at the facade, through refusals, restarts and silence, and nobody waits for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr
from tests.support.loopback_server import on_loopback
from tests.support.scenes import layout, scene
from tests.support.small_program import small_program
from tests.support.waiting import until

from onair_crds.contract.facade_paths import EVENT_STREAM_PATH, TOKEN_PATH
from onair_crds.contract.program import Program
from onair_crds.shapes import JsonObject
from onair_encoder.scene import event_follower
from onair_encoder.scene.event_follower import EventFollower
from onair_encoder.scene.scene import LayersEvent


class ScriptedEventFacade:
    """Exchanges the page's token, and sends on each stream what a test says."""

    def __init__(self) -> None:
        self.refuses_tokens = False
        self.hangs = False
        self.hung = 0
        """Streams that were asked for meanwhile."""
        self.tokens = 0
        self.streams: list[web.WebSocketResponse] = []
        self.subscriptions: list[JsonObject] = []
        self.sessions: list[str] = []
        self.address = ""

    async def exchange(self, request: web.Request) -> web.Response:
        if self.refuses_tokens or request.headers["Authorization"] != "Bearer page-token":
            return web.json_response({"code": 16}, status=401)
        self.tokens += 1
        return web.json_response({}, headers={"Authorization": f"Bearer session-{self.tokens}"})

    async def stream(self, request: web.Request) -> web.WebSocketResponse:
        if self.hangs:
            self.hung += 1
            await asyncio.Event().wait()
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if request.headers["Authorization"] != f"Bearer session-{self.tokens}":
            await socket.send_str(json.dumps({"error": {"code": 7}, "code": 7}))
            await socket.close()
            return socket
        self.sessions.append(request.query["sessionid"])
        self.streams.append(socket)
        async for message in socket:
            asked = json.loads(message.data)
            self.subscriptions.append(asked["subscribe"])
            await self.say(subscribed=asked["subscribe"], correlationId=asked["correlationId"])
        return socket

    async def say(self, **result: Any) -> None:
        await self.streams[-1].send_str(json.dumps({"result": {"sessionId": "s", **result}}))

    async def tell(self, version: int, **record: Any) -> None:
        layer = {"id": "left", "layoutId": "stage", "type": "square", **record}
        payload = {"layer": {"update": layer}}
        await self.say(event={"id": "e", "payload": payload, "resourceVersion": str(version)})


@pytest.fixture
async def scripted_facade(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedEventFacade]:
    monkeypatch.setattr(event_follower, "RETRY_MIN_S", 0.01)
    monkeypatch.setattr(event_follower, "RETRY_MAX_S", 0.05)
    scripted_facade, app = ScriptedEventFacade(), web.Application()
    app.router.add_put(TOKEN_PATH, scripted_facade.exchange)
    app.router.add_get(EVENT_STREAM_PATH, scripted_facade.stream)
    async with on_loopback(app) as scripted_facade.address:
        yield scripted_facade


@pytest.fixture
async def told() -> list[LayersEvent]:
    return []


@pytest.fixture
async def follower(told: list[LayersEvent]) -> AsyncIterator[EventFollower]:
    follower = EventFollower(told.append)
    running = asyncio.create_task(follower.run())
    yield follower
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def program(facade: ScriptedEventFacade, token: str = "page-token", **fields: Any) -> Program:  # noqa: S107
    where = {"facade_url": facade.address, "page_token": SecretStr(token), "scene": scene(layout(10))}
    where["collection"] = "sunday"
    return small_program(**{**where, **fields})


async def test_changes_of_the_project_are_told_in_order(
    scripted_facade: ScriptedEventFacade, follower: EventFollower, told: list[LayersEvent]
) -> None:
    follower.want(program(scripted_facade))
    await until(lambda: follower.follows)
    [subscription] = scripted_facade.subscriptions
    assert subscription["target"] == {"projectId": "show"}
    for version in (11, 12):
        await scripted_facade.tell(version)
    await until(lambda: len(told) == 2)
    assert [each.resource_version for each in told] == [11, 12]


async def test_a_stream_that_is_never_opened_is_given_up(
    scripted_facade: ScriptedEventFacade, follower: EventFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_follower, "CONNECT_TIMEOUT_S", 0.05)
    scripted_facade.hangs = True
    follower.want(program(scripted_facade))
    await until(lambda: scripted_facade.hung > 1)
    monkeypatch.setattr(event_follower, "CONNECT_TIMEOUT_S", 5.0)
    scripted_facade.hangs = False
    await until(lambda: follower.follows)


async def test_a_stream_that_ends_is_opened_again_as_the_same_session(
    scripted_facade: ScriptedEventFacade, follower: EventFollower, told: list[LayersEvent]
) -> None:
    follower.want(program(scripted_facade))
    await until(lambda: follower.follows)
    await scripted_facade.streams[-1].close()
    await until(lambda: len(scripted_facade.streams) == 2 and follower.follows)
    await scripted_facade.say(reconnectBefore={"reauthenticate": True, "beforeTimestamp": "0"})
    await until(lambda: len(scripted_facade.streams) == 3 and follower.follows)
    assert scripted_facade.tokens == 3, "each stream has a token of its own life"
    assert set(scripted_facade.sessions) == {"renderer-show-run-1"}
    await scripted_facade.tell(11)
    await until(lambda: told)


async def test_changes_are_expected_while_a_stream_is_opened_again_for_a_while(
    scripted_facade: ScriptedEventFacade, follower: EventFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not follower.flow
    follower.want(program(scripted_facade))
    await until(lambda: follower.follows)
    scripted_facade.refuses_tokens = True
    await scripted_facade.streams[-1].close()
    await until(lambda: not follower.follows)
    assert follower.flow
    monkeypatch.setattr(event_follower, "SOON_AGAIN_S", 0.05)
    await until(lambda: not follower.flow)


async def test_a_token_that_is_refused_is_tried_again(
    scripted_facade: ScriptedEventFacade, follower: EventFollower
) -> None:
    scripted_facade.refuses_tokens = True
    follower.want(program(scripted_facade))
    await asyncio.sleep(0)
    assert not follower.follows
    scripted_facade.refuses_tokens = False
    await until(lambda: follower.follows)


async def test_another_token_is_taken_at_once(
    scripted_facade: ScriptedEventFacade, follower: EventFollower
) -> None:
    follower.want(program(scripted_facade, "of-another-key"))
    follower.want(program(scripted_facade))
    await until(lambda: follower.follows, "it follows", 5)
    follower.want(program(scripted_facade))
    follower.want(program(scripted_facade, stop=True))
    await until(lambda: not follower.follows, "it follows no more", 5)


async def test_what_cannot_be_read_ends_nothing(
    scripted_facade: ScriptedEventFacade, follower: EventFollower, told: list[LayersEvent]
) -> None:
    follower.want(program(scripted_facade))
    await until(lambda: follower.follows)
    await scripted_facade.streams[-1].send_str("{")
    await scripted_facade.say(error={"code": 15})
    await scripted_facade.say(event={"payload": None, "resourceVersion": "1"})
    await scripted_facade.say(event={"payload": {"layer": {"batch": {}}}, "resourceVersion": "1"})
    await scripted_facade.say(event={"payload": {"layer": {"update": {"id": 1}}}, "resourceVersion": "x"})
    await scripted_facade.tell(11)
    await until(lambda: told)
    assert len(scripted_facade.streams) == 1


async def test_a_facade_that_is_away_is_tried_until_it_is_back(
    scripted_facade: ScriptedEventFacade, follower: EventFollower
) -> None:
    follower.want(program(scripted_facade, facade_url="http://127.0.0.1:9"))
    await asyncio.sleep(0)
    follower.want(program(scripted_facade))
    await until(lambda: follower.follows)


@pytest.mark.parametrize("missing", ["facade_url", "page_token", "scene"])
async def test_an_operator_of_before_says_nothing_of_it(
    scripted_facade: ScriptedEventFacade, follower: EventFollower, missing: str
) -> None:
    unsaid: dict[str, Any] = {missing: None}
    follower.want(program(scripted_facade, **unsaid))
    await asyncio.sleep(0)
    assert scripted_facade.tokens == 0
    assert not follower.follows
