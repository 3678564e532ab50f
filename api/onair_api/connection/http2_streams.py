"""The streams of HTTP/2 connections: hypercorn's, of which each waits for its own client and can be cut."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

import hypercorn.protocol
from h2.errors import ErrorCodes
from h2.events import RequestReceived
from h2.exceptions import ProtocolError
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.events import StreamClosed
from hypercorn.protocol.h2 import (
    BUFFER_HIGH_WATER,
    BUFFER_LOW_WATER,
    BufferCompleteError,
    H2Protocol,
    StreamBuffer,
)
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.typing import ASGIReceiveEvent
from hypercorn.typing import Event as Awaited
from starlette.types import Scope

from onair_api.connection.http_connection import UNREAD_TIMEOUT_S, Abortable, transport_of

EXTENSION = "onair.stream"
"""Name under which requests over HTTP/2 offer their stream in `scope["extensions"]`."""


class Http2Stream:
    """A request over HTTP/2, which is cut without its connection: others may share that."""

    def __init__(self, protocol: Http2Protocol, stream: HTTPStream) -> None:
        self._protocol, self._stream = protocol, stream

    def abort(self) -> None:
        if not self._stream.closed:
            self._protocol.cut(self._stream.stream_id)

    def is_closing(self) -> bool:
        return self._stream.closed


class UnsentResponse(StreamBuffer):
    """What of a response its client has no room for yet.

    Hypercorn lets the application go on once it took little from its buffer for the client, be it because the
    client has no room; so nobody ever waited, and the buffer took all that there was. Here the application
    goes on once there is little in it. A response of which its client takes nothing for a while is cut.
    """

    def __init__(self, event_class: type[Awaited], cut: Callable[[], None]) -> None:
        super().__init__(event_class)
        self._cut = cut

    async def push(self, data: bytes) -> None:
        if self._complete:
            raise BufferCompleteError
        self.buffer.extend(data)
        await self._is_empty.clear()
        if len(self.buffer) >= BUFFER_HIGH_WATER:
            await self._paused.clear()
            await self._until(self._paused)

    async def pop(self, max_length: int) -> bytes:
        data = bytes(self.buffer[:max_length])
        del self.buffer[:max_length]
        if len(self.buffer) < BUFFER_LOW_WATER:
            await self._paused.set()
        if not self.buffer:
            await self._is_empty.set()
        return data

    async def drain(self) -> None:
        await self._until(self._is_empty)

    async def _until(self, taken: Awaited) -> None:
        """Looks after a while whether fewer bytes wait than before: a slow client may take its time."""
        while not taken.is_set():
            left = len(self.buffer)
            try:
                async with asyncio.timeout(UNREAD_TIMEOUT_S):
                    await taken.wait()
            except TimeoutError:
                if len(self.buffer) >= left:
                    self._cut()


class _Streams(dict[int, Any]):
    """Streams by their ids. What comes for one that has ended meanwhile is for nobody."""

    def __missing__(self, _: int) -> _EndedStream:
        return _EndedStream()


class _EndedStream:
    async def handle(self, event: StreamEvent) -> None:
        pass


class Http2Protocol(H2Protocol):
    """HTTP/2 of one connection, on which no stream waits for the client of another."""

    def __init__(self, *of_hypercorn: Any) -> None:
        super().__init__(*of_hypercorn)
        self.streams = _Streams()
        self._cuts: set[asyncio.Task[None]] = set()

    def cut(self, stream_id: int) -> None:
        task = asyncio.create_task(self.stream_send(StreamClosed(stream_id=stream_id)))
        self._cuts.add(task)
        task.add_done_callback(self._cuts.discard)

    async def _close_stream(self, stream_id: int) -> None:
        """Says so to the client if the response is not complete, for which nobody waits any more."""
        await super()._close_stream(stream_id)
        unsent = self.stream_buffers.get(stream_id)
        if unsent is None or unsent.complete:
            return
        await unsent.close()
        await self._window_updated(stream_id)
        of_h2 = self.connection.streams.get(stream_id)
        if not self.closed and of_h2 and not of_h2.closed:
            with suppress(ProtocolError):  # the connection has said GOAWAY
                self.connection.reset_stream(stream_id, ErrorCodes.CANCEL)
            await self._flush()

    async def _create_stream(self, request: RequestReceived) -> None:
        stream_id = request.stream_id
        if any(name == b":method" and value.upper() == b"CONNECT" for name, value in request.headers):
            # Hypercorn takes it for a WebSocket, which ends only as its own protocol says
            self.connection.reset_stream(stream_id, ErrorCodes.CANCEL)
            self.cut(stream_id)
            return
        await super()._create_stream(request)
        # Nothing has waited yet, so the application has not begun
        stream = cast(HTTPStream, self.streams[stream_id])
        offered = Http2Stream(self, stream)
        cast(Scope, stream.scope)["extensions"][EXTENSION] = offered
        stream.app_put = _waiting_for_nobody(stream.app_put)
        self.stream_buffers[stream_id] = UnsentResponse(self.context.event_class, offered.abort)


def _waiting_for_nobody(
    put: Callable[[ASGIReceiveEvent], Awaitable[None]],
) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
    """Puts what comes of a request into its queue, of which no more is taken once the application has ended.

    The end of the request is the last that is put there. It would wait for good in a full queue, and with it
    who puts: the task of the connection, which reads it.
    """
    queue: asyncio.Queue[ASGIReceiveEvent] = cast(Any, put).__self__

    async def put_in(message: ASGIReceiveEvent) -> None:
        # One more may wait already to be put
        if message["type"] == "http.disconnect" and queue.qsize() >= queue.maxsize - 1:
            while not queue.empty():
                queue.get_nowait()
        await put(message)

    return put_in


def abortable_of(scope: Scope) -> Abortable | None:
    """What cuts the response to a request: its stream over HTTP/2, else its connection."""
    stream: Abortable | None = (scope.get("extensions") or {}).get(EXTENSION)
    return stream or transport_of(scope)


# Hypercorn makes its connections' protocol by this name, within what it calls a wrapper, and takes no other
hypercorn.protocol.H2Protocol = Http2Protocol  # type: ignore[attr-defined, assignment]
