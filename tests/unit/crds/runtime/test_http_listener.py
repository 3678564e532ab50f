"""Connections that ask for nothing are closed, and keep nobody out until then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, web

from onair_crds.runtime.http_listener import listen

HEAD = b"GET /quick HTTP/1.1\r\nHost: us\r\n"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def listening(*, head_timeout_s: float = 60.0, max_waiting: int = 8) -> AsyncIterator[int]:
    """A server; gives its port."""

    async def quick(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b".\n")
            await asyncio.sleep(0.01)

    app = web.Application()
    app.router.add_get("/quick", quick)
    app.router.add_get("/endless", endless)
    runner = await listen(app, "127.0.0.1", 0, head_timeout_s=head_timeout_s, max_waiting=max_waiting)
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def opened(port: int, begun: bytes = b"") -> Connection:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(begun)
    return reader, writer


async def closed(connection: Connection) -> None:
    async with asyncio.timeout(5):
        assert await connection[0].read() == b""
    connection[1].close()


async def test_a_head_that_does_not_end_is_not_waited_for() -> None:
    async with listening(head_timeout_s=0.2) as port:
        silent, slow = await opened(port), await opened(port, HEAD)
        await asyncio.gather(closed(silent), closed(slow))


async def test_of_too_many_that_ask_for_nothing_those_who_wait_longest_go() -> None:
    async with listening() as port:
        idle = [await opened(port, HEAD) for _ in range(20)]
        async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}/quick") as response:
            assert response.status == 200
        await asyncio.gather(*(closed(each) for each in idle[:12]))
        reader, writer = idle[-1]
        writer.write(b"\r\n")
        assert (await reader.readline()).split()[1] == b"200"
        for _, each in idle[12:]:
            each.close()


async def test_whoever_is_being_answered_stays() -> None:
    async with (
        listening() as port,
        ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/endless") as response,
    ):
        await response.content.readline()
        idle = [await opened(port) for _ in range(20)]
        await closed(idle[0])
        for _ in range(20):
            assert await response.content.readline() == b".\n"
        for _, each in idle[1:]:
            each.close()


async def test_a_connection_is_used_again() -> None:
    async with listening() as port:
        reader, writer = await opened(port)
        for _ in range(3):
            writer.write(HEAD + b"\r\n")
            assert (await reader.readline()).split()[1] == b"200"
            await reader.readuntil(b"\r\n\r\nok")
        writer.close()
