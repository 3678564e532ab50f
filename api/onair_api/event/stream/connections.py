"""uvicorn's protocols, with what streams need and ASGI has no word for: the connection itself.

A WebSocket message that goes to a thousand streams is framed once and written
as it is; through ASGI each would be framed, queued and awaited by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

EXTENSION = "onair.connection"
"""Name in `scope["extensions"]`."""

HEAD_BYTES = 131_072
"""Most bytes of a request beside its body: line, headers, trailers; a token has at most 8192."""
BODY_IN_CHUNKS = 1_048_576
"""Most bytes of a body that may come in chunks of one byte each."""


class WebSocketConnection(WebSocketsSansIOProtocol):
    """Offers itself to the application as `scope["extensions"]["onair.connection"]`."""

    can_write = True
    """False while the peer reads more slowly than is written."""
    on_writable: Callable[[], None] | None = None
    """Called when the peer caught up."""

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

    def write_frames(self, frames: bytes) -> None:
        """Whole, unfragmented server frames; between them the library may write its own (pong, close)."""
        if not self.close_sent and not self.disconnected:
            self.transport.write(frames)


class HttpConnection(HttpToolsProtocol):
    """Offers its transport as `scope["extensions"]["onair.connection"]`, so that a stream can be cut.

    Ends connections whose requests have too much beside their bodies: the parser keeps all of it.
    """

    _begun = False
    """A request began with the data that is being read."""
    _received = 0
    """Bytes of the present request after those that it began with."""
    _body = 0

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begun = True
        self._received = self._body = 0
        self.scope["extensions"] = {EXTENSION: self.transport}  # type: ignore[dict-item]

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        self._begun = False
        super().data_received(data)
        if self._begun:
            return
        self._received += len(data)
        framing = 8 * min(self._body, BODY_IN_CHUNKS)
        if self._received - self._body > HEAD_BYTES + framing:
            self.transport.abort()


def connection_of(scope: Any) -> Any:
    """The connection of a request; None under another server."""
    return (scope.get("extensions") or {}).get(EXTENSION)
