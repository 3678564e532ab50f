"""What a session needs of its transport, and the connection behind a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from onair_api.event.event import Event, Format

EXTENSION = "onair.connection"
"""Name of the connection in `scope["extensions"]`."""


class Sender(Protocol):
    format: Format
    loss_message: Callable[[], bytes]
    """Makes the message that reports dropped events."""

    def push(self, frame: bytes, event: Event | None = None) -> None:
        """Sends now, or queues until the reader is ready; never blocks.

        Args:
            event: the event that the frame has; None for a reply.
        """

    def unsent(self) -> list[Event]:
        """Events that are queued."""

    def stalled_s(self, now: float) -> float:
        """Seconds since the reader took anything, while something is queued."""

    def abort(self) -> None:
        """Cuts the connection."""

    def end(self, code: int, reason: str) -> None:
        """Closes the connection after what was pushed."""


def connection_of(scope: Any) -> Any:
    """The connection of a request; None under another server than uvicorn."""
    return (scope.get("extensions") or {}).get(EXTENSION)
