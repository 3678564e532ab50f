"""An HTTPS server with an encoder's identity, which responds as a test says."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler
from tests.support.control_plane import free_port

from onair_crds.contract.pod import CERTIFICATE, CONTACT_PATH, PRIVATE_KEY, PROGRAM_PATH, STATUS_PATH
from onair_crds.contract.program import EncoderStatus, Program
from onair_operator.encoder import connection
from onair_operator.encoder.pod_identity import OperatorKey, pod_identity

ADDRESS, SILENT_ADDRESS = "127.0.0.1", "127.0.0.2"
"""Of the server, and of one that accepts connections and never says a word."""


class EncoderServer:
    """Remembers the programmes that it was handed, and streams the statuses that a test gives it."""

    def __init__(self, certificate: str) -> None:
        self.certificate = certificate
        self.statuses: asyncio.Queue[EncoderStatus | bytes] = asyncio.Queue()
        """What is streamed; bytes as they are."""
        self.status = EncoderStatus(phase="idle", broadcast="run", epoch=1)
        self.programs: list[Program] = []
        self.response: tuple[int, str] | None = None
        """To a programme; without one it is taken, unless its revision is over."""
        self.failing: set[str] = set()
        """Paths to which every response is that it fails."""
        self.failed = 0
        self.requests: list[str] = []
        """Method, path and body of those that it did not fail."""

    async def take(self, request: web.Request) -> web.Response:
        program = Program.model_validate_json(await request.read())
        if self.response:
            return web.Response(status=self.response[0], text=self.response[1])
        if program.revision < self.status.revision:
            return web.Response(status=409, text="a later revision is known")
        self.programs.append(program)
        return web.Response()

    async def show(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("follow") != "1":
            return web.Response(text=self.status.wire(), content_type="application/json")
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            status = await self.statuses.get()
            line = status if isinstance(status, bytes) else status.wire().encode()
            await response.write(line + b"\n")

    async def hear(self, _: web.Request) -> web.Response:
        return web.Response()

    @web.middleware
    async def note(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path in self.failing:
            self.failed += 1
            return web.Response(status=503)
        self.requests.append(f"{request.method} {request.path} {(await request.text()).strip()}".strip())
        return await handler(request)

    @classmethod
    @asynccontextmanager
    async def running(
        cls, key: OperatorKey, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> AsyncIterator[EncoderServer]:
        """Clients of pods with `ADDRESS` reach it, those of `SILENT_ADDRESS` reach nobody."""
        identity = pod_identity(key, dt.datetime.now(dt.UTC))
        for name in (CERTIFICATE, PRIVATE_KEY):
            (folder / name).write_text(identity[name])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / CERTIFICATE, folder / PRIVATE_KEY)
        server, port = cls(identity[CERTIFICATE]), free_port()
        app = web.Application(middlewares=[server.note])
        app.router.add_put(CONTACT_PATH, server.hear)
        app.router.add_put(PROGRAM_PATH, server.take)
        app.router.add_get(STATUS_PATH, server.show)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, ADDRESS, port, ssl_context=context).start()
        silent = await asyncio.start_server(_say_nothing, SILENT_ADDRESS, port)
        monkeypatch.setattr(connection, "control_url", lambda ip, path: f"https://{ip}:{port}{path}")
        yield server
        silent.close()
        await runner.cleanup()


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.read(65536):
            pass
    except ConnectionError:
        pass
    finally:
        writer.close()
