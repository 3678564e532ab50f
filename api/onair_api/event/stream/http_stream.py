"""The event stream as a plain HTTP response: newline-delimited JSON, or server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from onair_api.connection.http_connection import transport_of
from onair_api.event.event import Format, Framing
from onair_api.event.stream.event_streams import EventStreams
from onair_api.event.stream.heartbeat import heartbeat
from onair_api.event.stream.http_sender import HttpSender
from onair_api.event.stream.request_handler import RequestHandler
from onair_api.event.stream.requests import StreamRequest, requests_of_query
from onair_api.event.stream.session import Session
from onair_api.event.stream.stream_admission import StreamAdmission, session_id_of, token_of
from onair_api.operation import BODILESS
from onair_api.settings import EventSettings

MEDIA_TYPES: dict[Framing, str] = {Format.NDJSON: "application/x-ndjson", Format.SSE: "text/event-stream"}

KEEPALIVE_S = 30
"""An idle connection is probed after this long; it has no pings of its own."""


class HttpStreams:
    """Serves StreamEvents over plain HTTP: an ASGI application."""

    def __init__(
        self,
        settings: EventSettings,
        admission: StreamAdmission,
        streams: EventStreams,
        requests: RequestHandler,
    ) -> None:
        self._settings = settings
        self._admission = admission
        self._streams = streams
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._open(Request(scope, receive))
        await response(scope, receive, send)

    async def _open(self, request: Request) -> Response:
        """
        Raises:
            RpcError: the stream cannot open; the response's status says why.
        """
        sse = "text/event-stream" in request.headers.get("accept", "")
        # A browser's EventSource sends no header of its own; whoever reads lines does
        query = request.query_params if sse else QueryParams()
        verified = await self._admission.admit(token_of(request.headers, query, []))
        format_ = Format.SSE if sse else Format.NDJSON
        if request.scope.get(BODILESS):
            return Response(media_type=MEDIA_TYPES[format_])
        transport = transport_of(request.scope)
        _enable_keepalive(transport)
        sender = HttpSender(format_, transport, self._settings)
        session = await self._streams.open(
            verified, session_id_of(request.headers, request.query_params), sender
        )
        requests = requests_of_query(request.query_params)
        heartbeat_s = self._settings.heartbeat_s
        return _StreamResponse(self._streams, self._requests, session, sender, requests, heartbeat_s)


class _StreamResponse(Response):
    """Writes what the session is sent until one side ends it."""

    def __init__(
        self,
        streams: EventStreams,
        handler: RequestHandler,
        session: Session,
        sender: HttpSender,
        requests: list[StreamRequest],
        heartbeat_s: float,
    ) -> None:
        super().__init__(media_type=MEDIA_TYPES[sender.format], headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._streams = streams
        self._handler = handler
        self._session = session
        self._sender = sender
        self._requests = requests
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        disconnected = asyncio.create_task(_disconnected(receive))
        writing = asyncio.create_task(self._write(send))
        try:
            await self._handler.handle_first(self._session, self._requests)
            await asyncio.wait({disconnected, writing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (disconnected, writing):
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(disconnected, writing, return_exceptions=True)
            await self._streams.close(self._session)

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        opening = b": open\n\n" if self._sender.format is Format.SSE else b""
        await send({"type": "http.response.body", "body": opening, "more_body": True})
        while (chunk := await self._sender.chunk(self._heartbeat_s)) != b"":
            body = heartbeat(self._session) if chunk is None else chunk
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _enable_keepalive(transport: asyncio.Transport | None) -> None:
    connection = transport.get_extra_info("socket") if transport is not None else None
    if connection is None:
        return
    with contextlib.suppress(OSError):  # a Unix socket, or a system without these
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEPALIVE_S // 3)
