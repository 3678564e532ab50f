"""Native gRPC, at a port of its own as it takes HTTP/2: the RPC door for programs and for proxies."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

import structlog
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onair_api.connection.http2_connection import Http2Connection
from onair_api.connection.http2_streams import abortable_of
from onair_api.connection.http_connection import MAX_HEAD_BYTES, MAX_UNREAD_BODY_BYTES, REQUEST_TIMEOUT_S
from onair_api.connection.idle_connections import IdleConnections
from onair_api.rpc.content_types import NATIVE, content_type_of, refusal
from onair_api.rpc.descriptors import client_streams
from onair_api.rpc.routes import ROOT, root_of
from onair_api.settings import ListenSettings

log = structlog.get_logger()

MAX_STREAMS = 100
"""Requests of one connection at a time."""
KEEP_ALIVE_S = 300.0
"""For a connection without requests."""
HEAD_BYTES = 5
"""Of a message of gRPC: a flag, and the length of what follows."""
SILENT_S = 0.5
"""A client that sends nothing for so long is not in the middle of a message."""


class NativeServer:
    """Serves an application's RPC door by HTTP/2 in the clear, and nothing else of it."""

    def __init__(
        self,
        app: ASGIApp,
        sockets: list[socket.socket],
        listen: ListenSettings,
        idle: IdleConnections,
        ended: Callable[[], None],
    ) -> None:
        """
        Args:
            sockets: bound to its port.
            idle: all connections of the replica that have no request under way.
            ended: is called if it ends by itself, which it never should.
        """
        self._app = app
        self._idle = idle
        self._ended = ended
        self._grace_s = listen.shutdown_grace_s
        self.port: int = sockets[0].getsockname()[1]
        self._config = Config.from_mapping(
            keep_alive_timeout=KEEP_ALIVE_S,
            keep_alive_max_requests=2**31,
            h2_max_concurrent_streams=MAX_STREAMS,
            h2_max_header_list_size=MAX_HEAD_BYTES,
            include_server_header=False,
            accesslog=None,
            errorlog=None,
        )
        self._stop = asyncio.Event()
        self._running = asyncio.create_task(self._listen(sockets, listen.backlog))
        self._running.add_done_callback(self._note_end)

    async def stop(self) -> None:
        """Lets running requests end, for as long as is set, and closes connections."""
        self._stop.set()
        await asyncio.gather(self._running, return_exceptions=True)

    async def _listen(self, sockets: list[socket.socket], backlog: int) -> None:
        """Serves connections until it is stopped, and those that are left for a while after that."""
        loop = asyncio.get_running_loop()
        context, app = WorkerContext(None), ASGIWrapper(self._serve)  # type: ignore[arg-type]
        connections: set[asyncio.Task[None]] = set()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = asyncio.create_task(
                Http2Connection(self._idle, app, loop, self._config, context, {}, reader, writer).run()
            )
            connections.add(connection)
            connection.add_done_callback(connections.discard)
            await connection

        servers: list[asyncio.Server] = []
        try:
            for each in sockets:
                server = await asyncio.start_server(serve, sock=each, backlog=backlog)
                servers.append(server)
            await self._stop.wait()
            await context.terminated.set()
        finally:
            for server in servers:
                server.close()
            if connections:
                _, left = await asyncio.wait(connections, timeout=self._grace_s)
                for connection in left:
                    connection.cancel()
                await asyncio.gather(*left, return_exceptions=True)

    def _note_end(self, running: asyncio.Task[None]) -> None:
        if not self._stop.is_set():
            error = None if running.cancelled() else running.exception()
            log.error("native.ended", error=type(error).__name__)
            self._ended()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or content_type_of(scope) not in NATIVE:
            await refusal(NATIVE)(scope, receive, send)
        else:
            asked = Asked(scope, receive, send)
            await self._app({**scope, "path": _path_of(scope["path"])}, asked.receive, asked.send)


class Asked:
    """A request on its way in, which must arrive in time; of a stream of messages the first.

    A response ends once what is being sent is received. One that ends before is followed by an error of its
    stream, by which clients forget the response.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._stream = abortable_of(scope)
        self._first = FirstMessage() if scope["path"] in client_streams() else None
        self._until: float | None = asyncio.get_running_loop().time() + REQUEST_TIMEOUT_S
        self._ended = False

    async def receive(self) -> Message:
        """Cuts a stream on which the request does not arrive in time."""
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            message = {"type": "http.disconnect"}
            if self._stream:
                self._stream.abort()
        self._ended = self._ended or not message.get("more_body", False)
        if self._ended or (self._first and self._first.is_whole_with(message.get("body", b""))):
            self._until = None
        return message

    async def send(self, message: Message) -> None:
        ends = message["type"] != "http.response.start" and not message.get("more_body", False)
        if ends and not self._ended:
            await self._drain()
        await self._send(message)

    async def _drain(self) -> None:
        """Receives the rest, and forgets it: of one that is far too large a part, of a stream nothing."""
        left = MAX_UNREAD_BODY_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                while not self._ended and left > 0:
                    async with asyncio.timeout(SILENT_S):
                        left -= len((await self.receive()).get("body", b""))
        self._ended = True


class FirstMessage:
    """Counts the bytes of a body until its first message is whole."""

    def __init__(self) -> None:
        self._head = b""
        self._received = 0

    def is_whole_with(self, more: bytes) -> bool:
        self._head += more[: HEAD_BYTES - len(self._head)]
        self._received += len(more)
        return self._received >= HEAD_BYTES + int.from_bytes(self._head[1:], "big")


def _path_of(path: str) -> str:
    """The door's path of a method, which gRPC calls only by its name."""
    service = path.removeprefix("/").rpartition("/")[0]
    try:
        return f"{root_of(service)}{path}"
    except KeyError:
        return f"{ROOT}{path}"
