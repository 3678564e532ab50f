"""The event stream as a plain HTTP answer: newline-delimited JSON, or server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from onair_api.auth.roles import Operation, authorize
from onair_api.event.event import Event, Format
from onair_api.event.stream.backlog import Backlog
from onair_api.event.stream.connections import connection_of
from onair_api.event.stream.handshake import session_id_of, token_of
from onair_api.event.stream.requests import Asked, asked_by_query
from onair_api.http.request_log import HEAD
from onair_api.services import Services, services_of
from onair_api.settings import EventSettings

WRITE_BYTES = 65_536
MEDIA_TYPES = {Format.NDJSON: "application/x-ndjson", Format.SSE: "text/event-stream"}

KEEPALIVE_S = 30
"""A connection on which nothing is sent is probed after this long; it has no pings of its own."""


class HttpOutbox:
    lost: Callable[[], bytes]

    def __init__(self, format_: Format, transport: Any, settings: EventSettings) -> None:
        self.format = format_
        self._transport = transport
        self._backlog = Backlog(settings.backlog_events, settings.backlog_bytes)
        self._wake = asyncio.Event()
        self.ended = False

    def push(self, frame: bytes, event: Event | None = None) -> None:
        self._backlog.add(frame, event, self.lost)
        self._wake.set()

    def unsent(self) -> list[Event]:
        return self._backlog.events()

    def stalled_s(self, now: float) -> float:
        return now - self._backlog.since if self._backlog else 0.0

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def end(self, code: int, reason: str) -> None:
        self.ended = True
        self._wake.set()

    async def chunk(self) -> bytes:
        """What is to be written next; empty when the stream ends."""
        while not self._backlog and not self.ended:
            self._wake.clear()
            await self._wake.wait()
        return self._backlog.take(WRITE_BYTES) if self._backlog else b""


async def http_stream(request: Request) -> Response:
    """
    Raises:
        RpcError: the stream cannot begin; told by the answer's status.
    """
    services = services_of(request)
    token = token_of(request.headers, request.query_params, [])
    verified = await services.tokens.verify(f"Bearer {token}" if token else None)
    services.rate_limits.count(verified.id, verified.identity.service_id)
    authorize(verified.identity, Operation.STREAM_EVENTS)
    format_ = Format.SSE if "text/event-stream" in request.headers.get("accept", "") else Format.NDJSON
    if request.scope.get(HEAD):
        return Response(media_type=MEDIA_TYPES[format_])
    transport = connection_of(request.scope)
    _probe_when_quiet(transport)
    outbox = HttpOutbox(format_, transport, services.settings.events)
    session = await services.streams.open(
        verified, session_id_of(request.headers, request.query_params), outbox
    )
    return _Streaming(services, session, outbox, asked_by_query(request.query_params))


class _Streaming(Response):
    """Sends what the session is given until one side ends it."""

    def __init__(self, services: Services, session: Any, outbox: HttpOutbox, requests: list[Asked]) -> None:
        super().__init__(media_type=MEDIA_TYPES[outbox.format], headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._services = services
        self._session = session
        self._outbox = outbox
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streams = self._services.streams
        gone = asyncio.create_task(_gone(receive))
        writing = asyncio.create_task(self._write(send))
        try:
            for request in self._requests:
                await streams.handle(self._session, request)
            await asyncio.wait({gone, writing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, writing):
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(gone, writing, return_exceptions=True)
            await streams.close(self._session)

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if self._outbox.format is Format.SSE:
            await send({"type": "http.response.body", "body": b": open\n\n", "more_body": True})
        else:
            await send({"type": "http.response.body", "body": b"", "more_body": True})
        while chunk := await self._outbox.chunk():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _probe_when_quiet(transport: Any) -> None:
    connection = transport.get_extra_info("socket") if transport is not None else None
    if connection is None:
        return
    with contextlib.suppress(OSError):  # a Unix socket, or a system without these
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEPALIVE_S // 3)
