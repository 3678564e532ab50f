"""The event stream as a WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers, QueryParams
from starlette.types import Receive, Scope, Send

from onair_api.auth.roles import Operation, authorize
from onair_api.errors import Internal, ResourceExhausted, RpcError
from onair_api.event.event import Event, Format
from onair_api.event.stream.backlog import Backlog
from onair_api.event.stream.connections import WebSocketConnection, connection_of
from onair_api.event.stream.handshake import SUBPROTOCOL, session_id_of, token_of, told_on_stream
from onair_api.event.stream.requests import BadRequest, asked, asked_by_query
from onair_api.event.stream.session import Session, farewell
from onair_api.http.request_log import log_unexpected
from onair_api.kubernetes_errors import rpc_error
from onair_api.services import Services
from onair_api.settings import EventSettings
from onair_crds.kube.errors import ApiError

WRITE_BYTES = 65_536
"""Written at a time to a reader that fell behind."""


class WebSocketOutbox:
    format = Format.WEBSOCKET
    lost: Callable[[], bytes]

    def __init__(self, connection: WebSocketConnection, settings: EventSettings) -> None:
        self._connection = connection
        self._backlog = Backlog(settings.backlog_events, settings.backlog_bytes)
        connection.on_writable = self._flush

    def push(self, frame: bytes, event: Event | None = None) -> None:
        if self._connection.can_write and not self._backlog:
            self._connection.write_frames(frame)
        else:
            self._backlog.add(frame, event, self.lost)

    def unsent(self) -> list[Event]:
        return self._backlog.events()

    def stalled_s(self, now: float) -> float:
        return now - self._backlog.since if self._backlog else 0.0

    def abort(self) -> None:
        self._connection.transport.abort()

    def end(self, code: int, reason: str) -> None:
        connection = self._connection
        if not connection.close_sent and not connection.disconnected:
            task = asyncio.ensure_future(
                connection.send({"type": "websocket.close", "code": code, "reason": reason})
            )
            connection.tasks.add(task)  # awaited by the server when it ends
            task.add_done_callback(connection.tasks.discard)

    def _flush(self) -> None:
        while self._backlog and self._connection.can_write:
            self._connection.write_frames(self._backlog.take(WRITE_BYTES))


async def websocket_stream(scope: Scope, receive: Receive, send: Send) -> None:
    """One WebSocket, from its upgrade to its end. No error reaches the server, which would log its text."""
    try:
        await _stream(scope, receive, send)
    except OSError:  # the client went while it was written to
        return
    except Exception as error:  # noqa: BLE001 - the outermost place of this connection
        log_unexpected("stream.failed", error)


async def _stream(scope: Scope, receive: Receive, send: Send) -> None:
    services: Services = scope["app"].state.services
    connection = connection_of(scope)
    await receive()
    query, headers = QueryParams(scope["query_string"]), Headers(scope=scope)
    offered = scope.get("subprotocols") or []
    await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if SUBPROTOCOL in offered else None})
    token = token_of(headers, query, offered)
    outbox = WebSocketOutbox(connection, services.settings.events)
    try:
        session = await _open(services, token, session_id_of(headers, query), outbox)
    except RpcError as error:
        connection.write_frames(farewell(told_on_stream(error, token), Format.WEBSOCKET))
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    try:
        for request in asked_by_query(query):
            await services.streams.handle(session, request)
        await _converse(services, session, receive)
    finally:
        connection.on_writable = None
        await services.streams.close(session)


async def _open(services: Services, token: str, session_id: str | None, outbox: WebSocketOutbox) -> Session:
    try:
        verified = await services.tokens.verify(f"Bearer {token}")
        services.rate_limits.count(verified.id, verified.identity.service_id)
        authorize(verified.identity, Operation.STREAM_EVENTS)
        return await services.streams.open(verified, session_id, outbox)
    except ApiError as error:
        raise rpc_error(error) from error


async def _converse(services: Services, session: Session, receive: Receive) -> None:
    """Answers requests one after another until the client goes."""
    while True:
        message: dict[str, Any] = dict(await receive())
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        try:
            request = asked(
                text if text is not None else message.get("bytes") or b"", services.settings.limits
            )
        except BadRequest as error:
            try:
                services.rate_limits.count(session.token, session.identity.service_id)
            except ResourceExhausted as full:
                session.reply_error(error.correlation_id, full)
            else:
                session.reply_error(error.correlation_id, error)
            continue
        try:
            services.rate_limits.count(session.token, session.identity.service_id)
            await services.streams.handle(session, request)
        except ResourceExhausted as error:
            session.reply_error(request.correlation_id, error)
        except Exception as error:  # noqa: BLE001 - one request never ends the stream; no text, it may quote it
            log_unexpected("stream.request_failed", error, kind=request.kind)
            session.reply_error(request.correlation_id, Internal("an error of this service; it was logged"))
