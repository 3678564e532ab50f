"""The HTTP connection of a stream: uvicorn's protocol, which offers its transport, and its sender."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from onair_api.event.event import Event, Format
from onair_api.event.stream.backlog import Backlog
from onair_api.event.stream.sender import EXTENSION
from onair_api.settings import EventSettings

MAX_HEAD_BYTES = 131_072
"""Of a request without its body: request line, headers, trailers; a token has at most 8192."""
MAX_CHUNKED_BODY_BYTES = 1_048_576
"""Of a body that may come in chunks of one byte each."""
WRITE_BYTES = 65_536
"""Written at a time."""


class HttpConnection(HttpToolsProtocol):
    """Offers its transport as `scope["extensions"]["onair.connection"]`, so that a stream can be cut.

    Aborts connections whose requests are too large without their bodies: the parser keeps all of it.
    """

    _starting = False
    """A request started within the data that is being read."""
    _received = 0
    """Bytes of the current request after the data in which it started."""
    _body = 0

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._starting = True
        self._received = self._body = 0
        self.scope["extensions"] = {EXTENSION: self.transport}  # type: ignore[dict-item]

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        self._starting = False
        super().data_received(data)
        if self._starting:
            return
        self._received += len(data)
        framing = 8 * min(self._body, MAX_CHUNKED_BODY_BYTES)
        if self._received - self._body > MAX_HEAD_BYTES + framing:
            self.transport.abort()


def transport_of(scope: Scope) -> asyncio.Transport | None:
    """The transport of a request; None under another server than uvicorn."""
    transport: asyncio.Transport | None = (scope.get("extensions") or {}).get(EXTENSION)
    return transport


class HttpSender:
    """Queues messages for the task that writes the response."""

    loss_message: Callable[[], bytes]

    def __init__(self, format_: Format, transport: asyncio.Transport | None, settings: EventSettings) -> None:
        self.format = format_
        self._transport = transport
        self._backlog = Backlog(settings.backlog_events, settings.backlog_bytes)
        self._wake = asyncio.Event()
        self._ended = False

    def push(self, frame: bytes, event: Event | None = None) -> None:
        self._backlog.add(frame, event, self.loss_message)
        self._wake.set()

    def unsent(self) -> list[Event]:
        return self._backlog.events()

    def stalled_s(self, now: float) -> float:
        return now - self._backlog.since if self._backlog else 0.0

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def end(self, code: int, reason: str) -> None:
        self._ended = True
        self._wake.set()

    async def chunk(self, heartbeat_s: float) -> bytes | None:
        """The bytes to write next; empty when the stream ends, None where nothing came for so long."""
        try:
            async with asyncio.timeout(heartbeat_s):
                while not self._backlog and not self._ended:
                    self._wake.clear()
                    await self._wake.wait()
        except TimeoutError:
            return None
        return self._backlog.take(WRITE_BYTES) if self._backlog else b""
