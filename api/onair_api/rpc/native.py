"""Native gRPC, at a port of its own as it takes HTTP/2: the RPC door for programs and for proxies."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import structlog
from hypercorn.asyncio import serve
from hypercorn.config import Config
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onair_api.connection.http_connection import MAX_HEAD_BYTES, REQUEST_TIMEOUT_S
from onair_api.rpc.content_types import NATIVE, content_type_of, refusal
from onair_api.rpc.routes import ROOT, root_of
from onair_api.settings import ListenSettings

log = structlog.get_logger()

MAX_STREAMS = 100
"""Requests of one connection at a time."""
KEEP_ALIVE_S = 300.0
"""For a connection without requests."""


class NativeServer:
    """Serves an application's RPC door by HTTP/2 in the clear, and nothing else of it."""

    def __init__(self, app: ASGIApp, listen: ListenSettings, ended: Callable[[], None]) -> None:
        """
        Args:
            ended: is called if it ends by itself, which it never should.

        Raises:
            OSError: its address is not to be had.
        """
        self._app = app
        self._ended = ended
        listening = socket.socket(socket.AF_INET6 if ":" in listen.host else socket.AF_INET)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((listen.host, listen.grpc_port))
        self.port: int = listening.getsockname()[1]
        config = Config.from_mapping(
            bind=[f"fd://{listening.detach()}"],
            backlog=listen.backlog,
            graceful_timeout=listen.shutdown_grace_s,
            keep_alive_timeout=KEEP_ALIVE_S,
            keep_alive_max_requests=2**31,
            h2_max_concurrent_streams=MAX_STREAMS,
            h2_max_header_list_size=MAX_HEAD_BYTES,
            include_server_header=False,
            accesslog=None,
            errorlog=None,
        )
        self._stop = asyncio.Event()
        serving = serve(self._serve, config, shutdown_trigger=self._stop.wait, mode="asgi")  # type: ignore[arg-type]
        self._running = asyncio.create_task(serving)
        self._running.add_done_callback(self._note_end)

    async def stop(self) -> None:
        """Lets running requests end, for as long as is set, and closes connections."""
        self._stop.set()
        await asyncio.gather(self._running, return_exceptions=True)

    def _note_end(self, running: asyncio.Task[None]) -> None:
        if not self._stop.is_set():
            error = None if running.cancelled() else running.exception()
            log.error("native.ended", error=type(error).__name__)
            self._ended()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _without_a_life_of_its_own(receive, send)
        elif scope["type"] != "http" or content_type_of(scope) not in NATIVE:
            await refusal(NATIVE)(scope, receive, send)
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
