"""Sends the messages of one session: what each transport implements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from onair_api.event.event import Event, Framing
from onair_api.event.replay.closed_session_position import Unsent


class Sender(Protocol):
    loss_message: Callable[[], bytes]
    """Makes the message that reports dropped events."""

    @property
    def format(self) -> Framing: ...

    def push(self, frame: bytes, event: Event | None = None, *, is_loss: bool = False) -> None:
        """Sends now, or queues until the reader is ready; never blocks.

        Args:
            event: the event that the frame has; None for a reply.
            is_loss: it reports that events were lost.
        """

    def withdraw(self) -> Unsent:
        """Takes back events, and reports of lost ones, that were not sent."""

    def stalled_s(self, now: float) -> float:
        """Seconds since the reader took anything, while something is queued."""

    def abort(self) -> None:
        """Cuts the connection."""

    def end(self, code: int, reason: str) -> None:
        """Closes the connection after what was pushed."""
