"""The WebSocket connection of a stream: uvicorn's protocol, which offers itself, and its sender.

A message for a thousand streams is framed once and written as it is; through
ASGI each copy would be framed, queued and awaited by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any

from starlette.types import Scope
from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets import http11
from websockets.http11 import Request

from onair_api.connection.http_connection import EXTENSION, MAX_HEAD_BYTES
from onair_api.event.event import Event, Format
from onair_api.event.replay.closed_session_position import Unsent
from onair_api.event.stream.backlog import Backlog
from onair_api.event.stream.read_turns import read_turns
from onair_api.settings import EventSettings
from onair_api.unexpected_errors import log_unexpected

PIECE_BYTES = 4096
"""Parsed in one turn: some thirty requests."""
LOST = 1005
"""The code of a connection that ended without any."""
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

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.reads_for: Hashable = id(self)
        """Whose messages these are, once that is known: connections of one owner take turns as one."""
        self._unread = bytearray()
        self._in_turn = False
        self._owes_end = False
        """Whether the application has yet to learn that the connection has ended: after what came before."""
        self._served = False

    def data_received(self, data: bytes) -> None:
        """Parses a piece of it, and more once its messages are taken; until then nothing is received."""
        self._unread += data
        self._parse_on()
        if self._unread and not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def parse_piece(self) -> bool:
        """Parses some of what was received; whether more is to be parsed now."""
        try:
            return self._parse_piece()
        except Exception as error:  # noqa: BLE001 - others have their turns after it
            log_unexpected("stream.failed", error)
            self._unread.clear()
            self._in_turn = False
            self.transport.abort()
            self._read_on()
            return False

    def _parse_piece(self) -> bool:
        piece = bytes(self._unread[:PIECE_BYTES])
        del self._unread[:PIECE_BYTES]
        super().data_received(piece)
        if self.conn.handshake_exc and not self.handshake_initiated:
            # What the library says of a request that it cannot read, and uvicorn does not send
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
        if self.transport.is_closing() and (self.close_sent or self.conn.close_sent or self._served):
            self._unread.clear()  # nobody takes it
        self._in_turn = bool(self._unread) and (self.close_sent or self.queue.empty())
        if not self._in_turn:
            self._read_on()
        return self._in_turn

    def _parse_on(self) -> None:
        if self._unread and not self._in_turn:
            self._in_turn = True
            read_turns().add(self)

    def _read_on(self) -> None:
        """Receives again once all is parsed and taken; of a connection that has ended, its end."""
        if self._unread:
            return
        if self._owes_end:
            self._owes_end = False
            self._forget()
            self.queue.put_nowait({"type": "websocket.disconnect", "code": LOST})
        elif self.read_paused and not self.transport.is_closing() and (self.close_sent or self.queue.empty()):
            self.read_paused = False
            self.transport.resume_reading()

    async def receive(self) -> ASGIReceiveEvent:
        message = await self.queue.get()
        if self.queue.empty():
            self._parse_on()
            self._read_on()
        return message

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if scope := getattr(self, "scope", None):
            scope["extensions"][EXTENSION] = self

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if self.close_sent:
            self._parse_on()

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
        """Ends the connection; the application learns of it once it has taken what the peer sent before."""
        queue = self.queue
        is_served = self.handshake_initiated and not self._served
        self._owes_end = bool(self._unread) and is_served and not self.close_sent
        if self._owes_end:
            self.queue = asyncio.Queue()
        super().connection_lost(exc)
        self.queue, self.read_paused = queue, True
        if not self._owes_end:
            self._unread.clear()
            self._forget()
        elif queue.empty():
            self._parse_on()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        if self._owes_end:
            self._forget()
        self._served, self._owes_end = True, False
        self._unread.clear()

    def handle_ping(self) -> None:
        """Replies, unless the peer reads nothing: replies would wait in memory without end."""
        if self.can_write and not self.transport.is_closing():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def handle_parser_exception(self) -> None:
        """Says what was wrong, where anybody is left to be told."""
        if not self.transport.is_closing():
            super().handle_parser_exception()
        self._unread.clear()

    def _forget(self) -> None:
        """Drops what has come of a message, and what refers back: circles are freed much later."""
        self.conn.reader.discard()
        self.frames.clear()
        self.conn.parser.close()
        self.conn.parser = iter(lambda: None, 0)  # type: ignore[assignment]
        if scope := getattr(self, "scope", None):
            scope["extensions"].pop(EXTENSION, None)

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
