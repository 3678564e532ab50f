"""The facade on the loopback: for the page of the studio, as it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback
from tests.support.small_program import small_program
from yarl import URL

from onair_crds.contract.program import Program, ProgramRoomServer, ProgramStudio
from onair_crds.contract.scene import ProgramScene
from onair_encoder.loopback import serve
from onair_encoder.studio import facade_door
from onair_encoder.studio.facade_door import FacadeDoor

PAGE = "https://studio.example"
OF_THE_PAGE = {"Origin": PAGE}


@dataclass
class RecordingFacade:
    url: str = ""
    seen: list[dict[str, str]] = field(default_factory=list)
    half: asyncio.Event = field(default_factory=asyncio.Event)
    """Set: what is half answered is cut off."""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(dict(request.headers))
        if request.path.endswith("/rtc/refused"):
            raise web.HTTPUnauthorized
        if request.path.endswith("/half"):
            response = web.StreamResponse()
            await response.prepare(request)
            await response.write(b"half")
            await self.half.wait()
            assert request.transport
            request.transport.abort()
            return response
        if request.headers.get("Upgrade"):
            socket = web.WebSocketResponse(protocols=["Bearer"])
            await socket.prepare(request)
            async for message in socket:
                if message.data == "end":
                    await socket.close(code=4404)
                elif message.type is aiohttp.WSMsgType.TEXT:
                    await socket.send_str(f"{message.data} {request.path_qs}")
                else:
                    await socket.send_bytes(message.data[::-1])
            return socket
        body = f"{request.method} {request.raw_path} {await request.text()}"
        headers = {"Authorization": "Bearer new", "Access-Control-Allow-Origin": "https://other.example"}
        return web.Response(status=404 if "none" in request.path else 200, text=body, headers=headers)


@pytest.fixture
async def recording_facade() -> AsyncIterator[RecordingFacade]:
    recording_facade, app = RecordingFacade(), web.Application()
    app.router.add_route("*", "/{path:.*}", recording_facade.serve)
    async with on_loopback(app) as recording_facade.url:
        yield recording_facade


@pytest.fixture
async def door(recording_facade: RecordingFacade) -> AsyncIterator[tuple[FacadeDoor, str]]:
    door = FacadeDoor()
    door.want(small_program(studio=ProgramStudio(), facade_url=f"{recording_facade.url}/"), PAGE)
    runner = await serve("127.0.0.1", 0, door.add_to)
    yield door, f"http://127.0.0.1:{runner.addresses[0][1]}/facade"
    await runner.cleanup()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


Door = tuple[FacadeDoor, str]


async def test_requests_pass_as_they_are(
    door: Door, recording_facade: RecordingFacade, session: aiohttp.ClientSession
) -> None:
    url = f"{door[1]}/grpcweb/live/v2/live.v21.ProjectService/GetProject?a=%2F"
    headers = {**OF_THE_PAGE, "Authorization": "Bearer token", "X-Grpc-Web": "1", "Cookie": "own=1"}
    async with session.post(URL(url, encoded=True), data="body", headers=headers) as response:
        assert await response.text() == "POST /grpcweb/live/v2/live.v21.ProjectService/GetProject?a=%2F body"
        assert response.headers["Authorization"] == "Bearer new"
        assert response.headers.getall("Access-Control-Allow-Origin") == [PAGE]
        assert "Authorization" in response.headers["Access-Control-Expose-Headers"]
    [seen] = recording_facade.seen
    assert (seen["Authorization"], seen["X-Grpc-Web"]) == ("Bearer token", "1")
    assert not {"Origin", "Cookie"} & {*seen}
    async with session.get(f"{door[1]}/live/v2/none", headers=OF_THE_PAGE) as response:
        assert response.status == 404


async def test_a_preflight_is_answered_for_the_page(
    door: Door, recording_facade: RecordingFacade, session: aiohttp.ClientSession
) -> None:
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-grpc-web,clienttype",
    }
    async with session.options(f"{door[1]}/live/v2/collection", headers={**OF_THE_PAGE, **asked}) as response:
        assert response.status == 204
        assert response.headers["Access-Control-Allow-Origin"] == PAGE
        assert response.headers["Access-Control-Allow-Headers"] == "x-grpc-web,clienttype"
    assert not recording_facade.seen


async def test_sockets_pass_both_ways_with_protocol_and_code(
    door: Door, session: aiohttp.ClientSession
) -> None:
    url = f"{door[1]}/event/v2/stream?sessionid=s"
    protocols = ("Bearer", "token")
    async with session.ws_connect(url, protocols=protocols, headers=OF_THE_PAGE) as socket:
        assert socket.protocol == "Bearer"
        await socket.send_str("ping")
        assert await socket.receive_str(timeout=5) == "ping /event/v2/stream?sessionid=s"
        await socket.send_bytes(b"123")
        assert await socket.receive_bytes(timeout=5) == b"321"
        await socket.send_str("end")
        await socket.receive(timeout=5)
        assert socket.close_code == 4404


async def test_a_socket_that_the_facade_refuses_is_refused(
    door: Door, session: aiohttp.ClientSession
) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        await session.ws_connect(f"{door[1]}/webrtc/v2/rtc/refused", headers=OF_THE_PAGE)
    assert refusal.value.status == 401


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/live/v2/collection", {}, 403),
        ("/live/v2/collection", {"Origin": "https://other.example"}, 403),
        ("/live/v2/collection", {"Origin": "null"}, 403),
        ("/metrics", OF_THE_PAGE, 404),
        ("/docs", OF_THE_PAGE, 404),
        ("/", OF_THE_PAGE, 404),
        ("/live/../metrics", OF_THE_PAGE, 404),
        ("/live/./v2/collection", OF_THE_PAGE, 404),
        ("/live/v2/%2e%2E/%2e./metrics", OF_THE_PAGE, 404),
        ("/live/v2/..%2F..%2fmetrics", OF_THE_PAGE, 404),
        ("/live/..\\metrics", OF_THE_PAGE, 404),
        ("/live/v2/..?a=b", OF_THE_PAGE, 404),
    ],
)
async def test_nothing_else_passes(
    door: Door,
    recording_facade: RecordingFacade,
    session: aiohttp.ClientSession,
    path: str,
    headers: dict[str, str],
    status: int,
) -> None:
    async with session.get(URL(f"{door[1]}{path}", encoded=True), headers=headers) as response:
        assert response.status == status
    assert not recording_facade.seen


async def test_the_door_is_shut_to_other_pages_than_those_of_the_studio(
    door: Door, recording_facade: RecordingFacade, session: aiohttp.ClientSession
) -> None:
    door[0].want(small_program(facade_url=recording_facade.url), PAGE)
    async with session.get(f"{door[1]}/live/v2/collection", headers=OF_THE_PAGE) as response:
        assert response.status == 403


async def test_a_page_of_scenes_gets_to_rooms_alone(
    door: Door, recording_facade: RecordingFacade, session: aiohttp.ClientSession
) -> None:
    door[0].want(small_program(scene=ProgramScene(), facade_url=recording_facade.url), PAGE)
    async with session.get(f"{door[1]}/live/v2/collection", headers=OF_THE_PAGE) as response:
        assert response.status == 404
    async with session.ws_connect(f"{door[1]}/webrtc/v2/rtc", headers=OF_THE_PAGE) as socket:
        await socket.send_str("ping")
        assert await socket.receive_str(timeout=5) == "ping /webrtc/v2/rtc"


async def test_a_facade_that_is_away_is_unavailable_in_words_that_the_page_may_see(
    door: Door, session: aiohttp.ClientSession, unused_tcp_port: int
) -> None:
    door[0].want(
        small_program(studio=ProgramStudio(), facade_url=f"http://127.0.0.1:{unused_tcp_port}"), PAGE
    )
    async with session.get(f"{door[1]}/live/v2/collection", headers=OF_THE_PAGE) as response:
        assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (503, PAGE)


async def test_a_stream_flows_at_once_and_is_cut_where_the_facade_cuts_it(
    door: Door, recording_facade: RecordingFacade, session: aiohttp.ClientSession
) -> None:
    async with session.get(f"{door[1]}/event/v2/half", headers=OF_THE_PAGE) as response:
        async with asyncio.timeout(5):
            assert await response.content.readany() == b"half"
        recording_facade.half.set()
        with pytest.raises(aiohttp.ClientPayloadError):
            async with asyncio.timeout(5):
                await response.content.readany()


async def test_a_stream_is_cut_where_the_facade_has_fallen_silent(
    door: Door, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facade_door, "SILENCE_S", 0.2)
    async with asyncio.timeout(5), session.get(f"{door[1]}/event/v2/half", headers=OF_THE_PAGE) as response:
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


@pytest.fixture
async def room_server() -> AsyncIterator[RecordingFacade]:
    room_server, app = RecordingFacade(), web.Application()
    app.router.add_route("*", "/{path:.*}", room_server.serve)
    async with on_loopback(app) as room_server.url:
        yield room_server


def scene_with_room(facade: str, room_server: RecordingFacade) -> Program:
    server = ProgramRoomServer.model_validate({"url": room_server.url, "token": "of-the-agent"})
    return small_program(scene=ProgramScene(), facade_url=facade, room_server=server)


async def joined_at(door: Door, session: aiohttp.ClientSession, path: str = "/webrtc/v2/rtc") -> str:
    """What the one that took the page's signalling was asked for."""
    headers = {"Origin": PAGE}
    async with session.ws_connect(f"{door[1]}{path}?access_token=page", headers=headers) as socket:
        await socket.send_str("at")
        return await socket.receive_str(timeout=10)


async def test_a_page_of_scenes_joins_its_room_by_the_facade_while_that_responds(
    door: Door,
    recording_facade: RecordingFacade,
    room_server: RecordingFacade,
    session: aiohttp.ClientSession,
) -> None:
    door[0].want(scene_with_room(recording_facade.url, room_server), PAGE)
    assert await joined_at(door, session) == "at /webrtc/v2/rtc?access_token=page"
    assert not room_server.seen


@pytest.mark.parametrize("away", ["closed", "silent", "failing"])
async def test_a_page_of_scenes_joins_its_room_without_a_facade_that_is_away(
    door: Door,
    room_server: RecordingFacade,
    session: aiohttp.ClientSession,
    monkeypatch: pytest.MonkeyPatch,
    away: str,
) -> None:
    monkeypatch.setattr(facade_door, "FALL_BACK_S", 0.2)
    app, over = web.Application(), asyncio.Event()

    async def serve(_: web.Request) -> web.Response:
        if away == "silent":
            await over.wait()
        return web.Response(status=503)

    app.router.add_route("*", "/{path:.*}", serve)
    async with on_loopback(app) as facade:
        door[0].want(scene_with_room("http://127.0.0.1:9" if away == "closed" else facade, room_server), PAGE)
        assert await joined_at(door, session) == "at /rtc"
        assert await joined_at(door, session, "/webrtc/v2/rtc/v1") == "at /rtc/v1"
        over.set()
    assert [each["Authorization"] for each in room_server.seen] == ["Bearer of-the-agent"] * 2


async def test_a_renewed_token_of_the_agent_is_not_passed_on_to_the_page(
    door: Door,
    recording_facade: RecordingFacade,
    room_server: RecordingFacade,
    session: aiohttp.ClientSession,
) -> None:
    """Both servers answer what they are sent, reversed: a renewal, and something else."""
    messages = [b"\x82\x01\x05eyJhb"[::-1], b"else"]
    for facade, passed in (("http://127.0.0.1:9", 1), (recording_facade.url, 2)):
        door[0].want(scene_with_room(facade, room_server), PAGE)
        url = f"{door[1]}/webrtc/v2/rtc"
        async with session.ws_connect(url, headers={"Origin": PAGE}) as socket:
            for each in messages:
                await socket.send_bytes(each)
            found = [await socket.receive_bytes(timeout=10) for _ in range(passed)]
        assert found == [each[::-1] for each in messages][-passed:]


async def test_a_facade_that_refuses_is_taken_at_its_word(
    door: Door, room_server: RecordingFacade, session: aiohttp.ClientSession
) -> None:
    app = web.Application()

    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=403)

    app.router.add_route("*", "/{path:.*}", refuse)
    async with on_loopback(app) as facade:
        door[0].want(scene_with_room(facade, room_server), PAGE)
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            await joined_at(door, session)
    assert refusal.value.status == 403
    assert not room_server.seen


async def test_a_room_server_that_refuses_or_is_away_is_told(
    door: Door, room_server: RecordingFacade, session: aiohttp.ClientSession
) -> None:
    gone = RecordingFacade(url="http://127.0.0.1:9")
    door[0].want(scene_with_room("http://127.0.0.1:9", gone), PAGE)
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        await joined_at(door, session)
    assert refusal.value.status == 503
    plain = web.Application()
    async with on_loopback(plain) as url:
        door[0].want(scene_with_room("http://127.0.0.1:9", RecordingFacade(url=url)), PAGE)
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            await joined_at(door, session)
    assert refusal.value.status == 404
