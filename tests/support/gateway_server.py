"""An ingest gateway's far end: an HTTP server that speaks the contract, and tells what a test says."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from tests.support.control_plane import free_port

from onair_crds.contract.ingest_gateway import (
    PULLS_PATH,
    STREAMS_PATH,
    TERM_HEADER,
    Heartbeat,
    Pulls,
    StreamState,
    gateway_token,
)
from onair_operator.settings import GatewaySettings

SECRET = b"the installation's"
SINCE = "2026-05-01T12:00:00.000Z"


def stream_state(stream: str, **changes: Any) -> StreamState:
    """A stream of 720p30 over RTMP that flows."""
    given = {
        "stream": stream,
        "online": True,
        "flowing": True,
        "since": SINCE,
        "protocol": "rtmp",
        "publisher": "198.51.100.7",
        "video": {"codec": "H264", "width": 1280, "height": 720, "framerate": 30.0},
        "audio": {"codec": "AAC", "sampleRate": 48_000, "channels": 2},
    }
    return StreamState.model_validate(given | changes)


class GatewayServer:
    """Remembers what it was asked, and streams the states that a test gives it."""

    def __init__(self, name: str = "ingest-0", secret: bytes = SECRET) -> None:
        self.name, self.port = name, free_port()
        self.secret: bytes = secret
        self.states: dict[str, StreamState] = {}
        self.cut_off: list[str] = []
        self.pulls: list[Pulls] = []
        self.hung = asyncio.Event()
        """While it is set, nothing is said on open connections, nor to new requests."""
        self.lying = False
        """While it is true, it says nothing but what no gateway says."""
        self.redirects_to: str | None = None
        """Where it sends whoever asks, if anywhere."""
        self.terms: set[str] = set()
        """Of leaders, that requests showed."""
        self.asked: Counter[str] = Counter()
        """How many requests came, by method, whoever sent them."""
        self.connections = 0
        self.heartbeat_s = 0.2
        self._listeners: set[asyncio.Queue[bytes]] = set()
        self._runner: web.AppRunner | None = None

    @property
    def settings(self) -> GatewaySettings:
        return GatewaySettings(name=self.name, region="eu-central-1", url=f"http://127.0.0.1:{self.port}")

    def tell(self, state: StreamState) -> None:
        """Has a state, and tells everybody."""
        if state.online:
            self.states[state.stream] = state
        else:
            self.states.pop(state.stream, None)
        self.say(state.wire().encode())

    def say(self, line: bytes) -> None:
        """Says a line, be it true or not."""
        for each in self._listeners:
            each.put_nowait(line)

    async def start(self) -> None:
        """Listens, again where it did before."""
        app = web.Application()
        app.router.add_get(STREAMS_PATH, self._show)
        app.router.add_delete(STREAMS_PATH + "/{stream}", self._delete)
        app.router.add_put(PULLS_PATH, self._put)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[GatewayServer]:
        await self.start()
        try:
            yield self
        finally:
            await self.stop()

    def _check(self, request: web.Request) -> None:
        self.asked[request.method] += 1
        self.terms.add(request.headers.get(TERM_HEADER, ""))
        if self.redirects_to:
            raise web.HTTPTemporaryRedirect(self.redirects_to + request.path)
        if request.headers.get("Authorization") != f"Bearer {gateway_token(self.secret, 'operator')}":
            raise web.HTTPUnauthorized

    async def _show(self, request: web.Request) -> web.StreamResponse:
        self._check(request)
        await self._answering()
        self.connections += 1
        if self.lying:
            return web.Response(text="<html>\n")
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._listeners.add(lines)
        response = web.StreamResponse()
        try:
            await response.prepare(request)
            for state in list(self.states.values()):
                await response.write(state.wire().encode() + b"\n")
            while True:
                await self._answering()
                await response.write(Heartbeat().wire().encode() + b"\n")
                try:
                    async with asyncio.timeout(self.heartbeat_s):
                        while True:
                            line = await lines.get()
                            await self._answering()
                            await response.write(line + b"\n")
                except TimeoutError:
                    pass
        except ConnectionError:  # the operator has gone
            return response
        finally:
            self._listeners.discard(lines)

    async def _answering(self) -> None:
        while self.hung.is_set():  # noqa: ASYNC110 - a test clears it
            await asyncio.sleep(0.02)

    async def _delete(self, request: web.Request) -> web.Response:
        self._check(request)
        stream = request.match_info["stream"]
        self.cut_off.append(stream)
        known = self.states.get(stream)
        if known is None:
            return web.Response(status=404)
        self.tell(known.model_copy(update={"online": False, "flowing": False}))
        return web.Response(status=204)

    async def _put(self, request: web.Request) -> web.Response:
        self._check(request)
        self.pulls.append(Pulls.model_validate_json(await request.read()))
        return web.Response(status=204)
