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
    """Offers its transport as `scope["extensions"]["onair.connection"]`, so that a stream can be cut."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: self.transport}  # type: ignore[dict-item]


def connection_of(scope: Any) -> Any:
    """The connection of a request; None under another server."""
    return (scope.get("extensions") or {}).get(EXTENSION)
