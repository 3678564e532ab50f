"""The WebSocket connection of a stream: uvicorn's protocol, which offers itself, and its sender.

A message for a thousand streams is framed once and written as it is; through
ASGI each copy would be framed, queued and awaited by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets import http11
from websockets.http11 import Request

from onair_api.connection.http_connection import EXTENSION, MAX_HEAD_BYTES
from onair_api.event.event import Event, Format
from onair_api.event.replay.closed_session_position import Unsent
from onair_api.event.stream.backlog import Backlog
from onair_api.settings import EventSettings

WRITE_BYTES = 65_536
"""Written at a time to a reader that fell behind."""
# The query of a room's signalling has a token with a participant's metadata; it was bounded as any head is
http11.MAX_LINE_LENGTH = MAX_HEAD_BYTES


class WebSocketConnection(WebSocketsSansIOProtocol):
    """Is `scope["extensions"]["onair.connection"]`."""

    can_write = True
    """False while the peer reads more slowly than is written."""
    on_writable: Callable[[], None] | None = None
    """Called when the peer caught up."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc and not self.handshake_initiated:
            # What the library says of a request that it cannot read, and uvicorn does not send
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if scope := getattr(self, "scope", None):
            scope["extensions"][EXTENSION] = self

    def pause_writing(self) -> None:
        super().pause_writing()
        self.can_write = False

    def resume_writing(self) -> None:
        super().resume_writing()
        self.can_write = True
        if self.on_writable:
            self.on_writable()

    def keepalive_timeout(self) -> None:
        """Waits longer where the peer's reply to a ping may be among what is not read yet."""
        if self.read_paused and self.ping_timeout is not None:
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)
        else:
            super().keepalive_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drops what has come of a message: the parser is in a circle, which is freed much later."""
        super().connection_lost(exc)
        self.conn.reader.discard()
        self.frames.clear()

    @property
    def is_open(self) -> bool:
        """Whether what is written reaches the peer: neither side has ended the connection."""
        return not (self.close_sent or self.disconnected or self.transport.is_closing())

    def write_frames(self, frames: bytes) -> None:
        """Writes whole, unfragmented frames; between them the library may write its own (pong, close)."""
        if self.is_open:
            self.transport.write(frames)


def connection_of(scope: Scope) -> WebSocketConnection:
    """The connection that an ASGI scope is of."""
    connection: WebSocketConnection = scope["extensions"][EXTENSION]
    return connection


class WebSocketSender:
    """Writes to the connection; queues only while the peer is behind."""

    format = Format.WEBSOCKET
    loss_message: Callable[[], bytes]

    def __init__(self, connection: WebSocketConnection, settings: EventSettings) -> None:
        self._connection = connection
        self._backlog = Backlog(settings.backlog_events, settings.backlog_bytes)
        connection.on_writable = self._flush

    def push(self, frame: bytes, event: Event | None = None, *, is_loss: bool = False) -> None:
        if self._can_write and not self._backlog:
            self._connection.transport.write(frame)
        else:
            self._backlog.add(frame, event, self.loss_message, is_loss=is_loss)

    def withdraw(self) -> Unsent:
        return self._backlog.withdraw()

    def stalled_s(self, now: float) -> float:
        return now - self._backlog.since if self._backlog else 0.0

    def abort(self) -> None:
        self._connection.transport.abort()

    def end(self, code: int, reason: str) -> None:
        connection = self._connection
        if connection.is_open:
            task = asyncio.ensure_future(
                connection.send({"type": "websocket.close", "code": code, "reason": reason})
            )
            connection.tasks.add(task)  # uvicorn awaits it when it stops
            task.add_done_callback(connection.tasks.discard)

    def _flush(self) -> None:
        while self._backlog and self._can_write:
            self._connection.transport.write(self._backlog.take(WRITE_BYTES))
            self._backlog.sent()

    @property
    def _can_write(self) -> bool:
        return self._connection.can_write and self._connection.is_open
