"""HTTP connections: uvicorn's protocol, which bounds what clients may do to it, and offers its transport."""

from __future__ import annotations

import asyncio
import fcntl
import math
import sys
import termios
from typing import Protocol

import httptools
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from onair_api.connection.idle_connections import IdleConnections

EXTENSION = "onair.connection"
"""Name under which uvicorn's protocols offer the connection in `scope["extensions"]`."""
MAX_HEAD_BYTES = 131_072
"""Of a request without its body: request line, headers, trailers; a token has at most 8192."""
MAX_CHUNKED_BODY_BYTES = 1_048_576
"""Of a body that may come in chunks of one byte each."""
MAX_UNREAD_BODY_BYTES = 16_777_216
"""Of a body that comes after the response, such as to who has no token. Clients read once they have sent all:
one whose body is a few times too large is to learn that, and a connection that is cut has no response."""
REQUEST_TIMEOUT_S = 60.0
"""From a request's first byte, or from the connection, to the request's last byte."""
UNREAD_TIMEOUT_S = 30.0
"""For which a client may take nothing of a response that waits for it."""


class Abortable(Protocol):
    """What carries a response, and can be cut: a connection, or a stream of one."""

    def abort(self) -> None: ...

    def is_closing(self) -> bool: ...


class UnreadWatch:
    """Aborts a connection whose client takes nothing of what waits for it."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Something waits."""
        self._look_later(unread_bytes(self._transport))

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _look_later(self, waiting_bytes: int) -> None:
        """Looks after a while whether fewer bytes wait than now: a slow reader may take its time."""

        def look() -> None:
            left_bytes = unread_bytes(self._transport)
            # What nothing waited of is about to be written
            if left_bytes >= (waiting_bytes or math.inf):
                self._transport.abort()
            elif left_bytes:
                self._look_later(left_bytes)

        self.stop()
        self._timer = asyncio.get_running_loop().call_later(UNREAD_TIMEOUT_S, look)


class HttpConnection(HttpToolsProtocol):
    """Offers its transport as `scope["extensions"]["onair.connection"]`, so that a stream can be cut.

    Aborts connections whose requests are too large without their bodies: the parser keeps all of it. Aborts
    those whose request does not arrive and those whose response nobody takes, too: each costs memory and a
    file descriptor for as long as its client likes; and those that go on sending a body that nobody reads.
    """

    idle: IdleConnections
    """All of this server's."""
    _starting = False
    """A request started within the data that is being read."""
    _received = 0
    """Bytes of the current request after the data in which it started."""
    _body = 0
    _unread_body = 0
    """Bytes of the body that came when the response was complete."""
    _request_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._unread = UnreadWatch(transport)
        self._await_request()
        self.idle.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timers()
        self.idle.closed(self)
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._stop_timers()
        self.idle.closed(self)
        super().handle_websocket_upgrade()
        # Each has the other; it is in use until this returns
        self.loop.call_soon(setattr, self, "parser", None)

    def _offers_another_protocol(self) -> bool:
        """Whether it could be answered by another protocol than WebSocket; it need not be (RFC 9110, 7.8)."""
        offers = self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"
        return offers and not self._should_upgrade()

    def _parse(self, data: bytes) -> None:
        """Has the parser take data. It leaves the bodies of requests that offer another protocol unread."""
        rest = memoryview(data)
        while True:
            try:
                self.parser.feed_data(rest)
                return None
            except httptools.HttpParserError:
                message = "Invalid HTTP request received."
                self.logger.warning(message)
                return self.send_400_response(message)
            except httptools.HttpParserUpgrade as upgrade:
                if self._should_upgrade():
                    return self.handle_websocket_upgrade()
                if not self._offers_another_protocol():
                    return None
                rest = rest[upgrade.args[0] :]
                head, self.parser = self._head_without_upgrade(), httptools.HttpRequestParser(self)
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                self.parser.feed_data(head)

    def _head_without_upgrade(self) -> bytes:
        """The head of the request as it would be if it offered no other protocol."""
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        for name, value in self.headers:
            if name == b"connection":
                options = [each for each in value.split(b",") if each.strip().lower() != b"upgrade"]
                lines.append(b"connection: " + b",".join(options))
            elif name != b"upgrade":
                lines.append(name + b": " + value)
        return b"\r\n".join([*lines, b"", b""])

    def on_message_begin(self) -> None:
        self._await_request()
        super().on_message_begin()
        self._starting = True
        self._received = self._body = self._unread_body = 0
        self.scope["extensions"] = {EXTENSION: self.transport}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        self.idle.asked(self)
        if not self._offers_another_protocol():
            super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # The rest of it may be too little for `pause_writing`
        if self.transport.get_write_buffer_size():
            self._unread.start()
        if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
            self.idle.answered(self)

    def on_message_complete(self) -> None:
        if self._request_timer:
            self._request_timer.cancel()
        if not self._offers_another_protocol():
            super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread.start()

    def _await_request(self) -> None:
        if self._request_timer:
            self._request_timer.cancel()
        self._request_timer = self.loop.call_later(REQUEST_TIMEOUT_S, self.transport.abort)

    def _stop_timers(self) -> None:
        if self._request_timer:
            self._request_timer.cancel()
        self._unread.stop()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        if self.cycle is None or self.cycle.response_complete:
            self._unread_body += len(body)
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        self._starting = False
        self._unset_keepalive_if_required()
        self._parse(data)
        if self._starting:
            return
        self._received += len(data)
        framing = 8 * min(self._body, MAX_CHUNKED_BODY_BYTES)
        head = self._received - self._body
        if head > MAX_HEAD_BYTES + framing or self._unread_body > MAX_UNREAD_BODY_BYTES:
            self.transport.abort()


def connection_class(idle: IdleConnections) -> type[HttpConnection]:
    """Connections of one server; uvicorn makes them of a class."""
    return type("ServedConnection", (HttpConnection,), {"idle": idle})


def unread_bytes(transport: asyncio.WriteTransport) -> int:
    """Bytes that were written and that the client's system has not acknowledged; 0 of a closed connection."""
    connection = transport.get_extra_info("socket")
    try:
        sent = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
    except (OSError, ValueError):
        return 0
    return transport.get_write_buffer_size() + int.from_bytes(sent, sys.byteorder)


def transport_of(scope: Scope) -> asyncio.Transport | None:
    """The transport of a request; None under another server than uvicorn."""
    transport: asyncio.Transport | None = (scope.get("extensions") or {}).get(EXTENSION)
    return transport
