"""Native gRPC, at a port of its own as it takes HTTP/2: the RPC door for programs and for proxies."""

from __future__ import annotations

import asyncio
import logging
import socket

from hypercorn.asyncio import serve
from hypercorn.config import Config
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onair_api.http.responses import Json
from onair_api.rpc.content_types import NATIVE, content_type_of
from onair_api.rpc.routes import ROOT, root_of

MAX_STREAMS = 100
"""Requests of one connection at a time."""
MAX_HEADER_BYTES = 65_536
KEEP_ALIVE_S = 300.0
"""For a connection without requests."""
REQUEST_TIMEOUT_S = 60.0
"""From a request's headers to the first bytes of its message."""


class NativeServer:
    """Serves an application's RPC door by HTTP/2 in the clear, and nothing else of it."""

    def __init__(self, app: ASGIApp, host: str, port: int, shutdown_grace_s: float) -> None:
        """
        Args:
            port: 0 takes a free one.
        """
        self._app = app
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((host, port))
        self._config = Config.from_mapping(
            bind=[f"fd://{self._socket.fileno()}"],
            graceful_timeout=shutdown_grace_s,
            keep_alive_timeout=KEEP_ALIVE_S,
            keep_alive_max_requests=2**31,
            h2_max_concurrent_streams=MAX_STREAMS,
            h2_max_header_list_size=MAX_HEADER_BYTES,
            include_server_header=False,
            accesslog=None,
            errorlog=logging.getLogger(__name__),
            loglevel="WARNING",
        )
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    def start(self) -> None:
        self._running = asyncio.create_task(
            serve(self._serve, self._config, shutdown_trigger=self._stop.wait, mode="asgi")  # type: ignore[arg-type]
        )

    async def stop(self) -> None:
        """Lets running requests end, for as long as is set, and closes connections."""
        self._stop.set()
        if self._running:
            await self._running

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _without_a_life_of_its_own(receive, send)
        elif scope["type"] != "http" or content_type_of(scope) not in NATIVE:
            response = Json({"code": 12, "message": "this port serves gRPC alone", "details": []}, 415)
            await response(scope, receive, send)
        else:
            await self._app({**scope, "path": _path_of(scope["path"])}, _begun(receive), send)


def _begun(receive: Receive) -> Receive:
    """Takes a client for gone that does not begin to send what it asks."""
    begun = False

    async def read() -> Message:
        nonlocal begun
        if begun:
            return await receive()
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                message = await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        begun = True
        return message

    return read


def _path_of(path: str) -> str:
    """Where the door has a method, which gRPC calls by its name alone."""
    service = path.removeprefix("/").rpartition("/")[0]
    try:
        return f"{root_of(service)}{path}"
    except KeyError:
        return f"{ROOT}{path}"


async def _without_a_life_of_its_own(receive: Receive, send: Send) -> None:
    """The application begins and ends with its other port."""
    for event in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{event}.complete"})
