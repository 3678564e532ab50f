"""The agent passes a gateway's records on to the page, which learns neither address nor token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from types import SimpleNamespace

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr
from tests.support.loopback_server import on_loopback
from tests.support.moved_name import at_moved_name
from tests.support.waiting import until

from onair_crds.contract.program import ProgramSource
from onair_encoder.loopback import serve
from onair_encoder.sources import source_relay
from onair_encoder.sources.source_relay import (
    MAX_OPENED,
    MAX_RELAYED,
    OPENED_WITHIN_S,
    SCRIPTS,
    SourceRelay,
)


class ReaderGateway:
    """Sends its records to whoever has the token, then waits for its end."""

    def __init__(self) -> None:
        self.readers = 0
        self.end = asyncio.Event()
        self.left = asyncio.Event()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != "Bearer token-of-camera":
            raise web.HTTPUnauthorized
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.readers += 1
        try:
            for record in (b"\x01one", b"\x03two"):
                await socket.send_bytes(record)
            listening = asyncio.create_task(socket.receive())
            ending = asyncio.create_task(self.end.wait())
            await asyncio.wait({listening, ending}, return_when=asyncio.FIRST_COMPLETED)
            listening.cancel()
            ending.cancel()
            await asyncio.gather(listening, ending, return_exceptions=True)
            await socket.close(code=4404)
        finally:
            self.readers -= 1
            self.left.set()
        return socket


@pytest.fixture
async def gateway() -> AsyncIterator[tuple[ReaderGateway, str]]:
    gateway, app = ReaderGateway(), web.Application()
    app.router.add_get("/v1/streams/s1/access-units", gateway.serve)
    async with on_loopback(app) as address:
        yield gateway, address


@pytest.fixture
async def relay() -> AsyncIterator[tuple[SourceRelay, str]]:
    relay = SourceRelay()
    runner = await serve("127.0.0.1", 0, relay.add_to)
    yield relay, f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


TOKEN = "token-of-camera"


def camera(gateway: str, token: str = TOKEN) -> ProgramSource:
    return ProgramSource(id="camera", gateway=gateway, stream="s1", token=SecretStr(token))


async def test_records_are_passed_on_as_they_are(
    gateway: tuple[ReaderGateway, str], relay: tuple[SourceRelay, str], session: aiohttp.ClientSession
) -> None:
    relay[0].want([camera(gateway[1])])
    async with session.ws_connect(f"{relay[1]}/sources/camera") as page:
        assert [await page.receive_bytes(), await page.receive_bytes()] == [b"\x01one", b"\x03two"]
        assert relay[0].relayed == ["camera"]
        gateway[0].end.set()
        assert (await page.receive()).type is aiohttp.WSMsgType.CLOSE
        assert page.close_code == 4404


async def test_without_a_page_nothing_is_read(
    gateway: tuple[ReaderGateway, str], relay: tuple[SourceRelay, str], session: aiohttp.ClientSession
) -> None:
    relay[0].want([camera(gateway[1])])
    async with session.ws_connect(f"{relay[1]}/sources/camera") as page:
        await page.receive_bytes()
        assert gateway[0].readers == 1
    async with asyncio.timeout(5):
        await gateway[0].left.wait()
    assert relay[0].relayed == []


async def test_a_source_that_is_taken_from_the_programme_ends_for_the_page(
    gateway: tuple[ReaderGateway, str], relay: tuple[SourceRelay, str], session: aiohttp.ClientSession
) -> None:
    relay[0].want([camera(gateway[1])])
    async with session.ws_connect(f"{relay[1]}/sources/camera") as page:
        await page.receive_bytes()
        relay[0].want([camera(gateway[1])])
        await page.receive_bytes()
        assert relay[0].relayed == ["camera"], "the same programme again cuts off nobody"
        relay[0].want([])
        assert (await page.receive()).type is aiohttp.WSMsgType.CLOSE
    async with asyncio.timeout(5):
        await gateway[0].left.wait()


async def test_a_page_reads_a_source_only_a_few_times_at_once(
    gateway: tuple[ReaderGateway, str], relay: tuple[SourceRelay, str], session: aiohttp.ClientSession
) -> None:
    relay[0].want([camera(gateway[1]), camera(gateway[1]).model_copy(update={"id": "another"})])
    async with AsyncExitStack() as pages:
        taken = [
            await pages.enter_async_context(session.ws_connect(f"{relay[1]}/sources/camera"))
            for _ in range(MAX_RELAYED)
        ]
        for page in taken:
            await page.receive_bytes()
        async with session.ws_connect(f"{relay[1]}/sources/camera") as one_more:
            assert (await one_more.receive()).type is aiohttp.WSMsgType.CLOSE
            assert one_more.close_code == 4429
        assert gateway[0].readers == MAX_RELAYED, "the gateway does not hear of it"
        async with session.ws_connect(f"{relay[1]}/sources/another") as other:
            await other.receive_bytes()
        await taken[0].close()
        await until(lambda: relay[0].relayed.count("camera") < MAX_RELAYED, "one has left")
        async with session.ws_connect(f"{relay[1]}/sources/camera") as again:
            assert await again.receive_bytes() == b"\x01one"
        assert not any(page.closed for page in taken[1:])


async def test_a_page_that_opens_and_closes_them_for_ever_hardly_reaches_the_gateway(
    gateway: tuple[ReaderGateway, str],
    relay: tuple[SourceRelay, str],
    session: aiohttp.ClientSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 100.0
    monkeypatch.setattr(source_relay, "time", SimpleNamespace(monotonic=lambda: now_s))
    other = camera(gateway[1]).model_copy(update={"id": "another"})
    relay[0].want([camera(gateway[1]), other])

    async def taken(source: str = "camera") -> bool:
        async with session.ws_connect(f"{relay[1]}/sources/{source}") as page:
            message = await page.receive()
            assert message.type is aiohttp.WSMsgType.BINARY or page.close_code == 4429
        await until(lambda: not relay[0].relayed, "it has left")
        return message.type is aiohttp.WSMsgType.BINARY

    assert [await taken() for _ in range(MAX_OPENED + 3)] == [True] * MAX_OPENED + [False] * 3
    assert await taken("another")
    now_s += OPENED_WITHIN_S
    assert await taken(), "the refused ones do not count"


@pytest.mark.parametrize("path", ["unknown", "camera"])
async def test_what_cannot_be_read_is_closed(
    gateway: tuple[ReaderGateway, str],
    relay: tuple[SourceRelay, str],
    session: aiohttp.ClientSession,
    path: str,
) -> None:
    relay[0].want([camera(gateway[1], token="another")])
    async with session.ws_connect(f"{relay[1]}/sources/{path}") as page:
        assert (await page.receive()).type is aiohttp.WSMsgType.CLOSE
        assert page.close_code == 4404


async def test_a_gateway_that_has_moved_is_found_at_once(
    gateway: tuple[ReaderGateway, str],
    relay: tuple[SourceRelay, str],
    session: aiohttp.ClientSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    relay[0].want([camera(at_moved_name(monkeypatch, gateway[1]))])
    async with session.ws_connect(f"{relay[1]}/sources/camera") as page:
        assert (await page.receive()).type is aiohttp.WSMsgType.CLOSE
    async with session.ws_connect(f"{relay[1]}/sources/camera") as page:
        assert await page.receive_bytes() == b"\x01one"


async def test_pages_give_sources_the_jitter_buffer_of_the_project(
    relay: tuple[SourceRelay, str], session: aiohttp.ClientSession
) -> None:
    async def settings() -> str:
        async with session.get(f"{relay[1]}/sources/settings.js") as response:
            assert response.headers["Access-Control-Allow-Origin"] == "*"
            return await response.text()

    assert await settings() == "export const delayMs = 100;\n"
    relay[0].want([], 750)
    assert await settings() == "export const delayMs = 750;\n"


async def test_the_script_is_for_pages_from_anywhere_but_names_are_refused(
    relay: tuple[SourceRelay, str], session: aiohttp.ClientSession
) -> None:
    for name in SCRIPTS:
        async with session.get(f"{relay[1]}/sources/{name}") as response:
            assert response.status == 200
            assert response.content_type == "text/javascript"
            assert response.headers["Access-Control-Allow-Origin"] == "*"
    async with session.get(f"{relay[1]}/sources/../relay.py") as response:
        assert response.status in (404, 405)
    async with session.get(f"{relay[1]}/sources/source.js", headers={"Host": "evil.test"}) as response:
        assert response.status == 421


async def test_a_gateway_that_takes_the_connection_and_never_responds_is_given_up(
    relay: tuple[SourceRelay, str], session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_relay, "CONNECT_TIMEOUT_S", 0.2)
    asked = asyncio.Event()

    async def hang(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await gone.wait()
        writer.close()

    gone = asyncio.Event()
    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    relay[0].want([camera(f"http://{host}:{port}")])
    async with asyncio.timeout(10), session.ws_connect(f"{relay[1]}/sources/camera") as page:
        await asked.wait()
        assert (await page.receive()).type is aiohttp.WSMsgType.CLOSE
    gone.set()
    server.close()
