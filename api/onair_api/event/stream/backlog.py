"""What waits to be sent to one session: bounded, and open about what it had to drop."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

from onair_api.event.event import Event, Format
from onair_api.metrics import EVENTS_DROPPED


class Waiting(NamedTuple):
    frame: bytes
    event: Event | None
    """None: a reply."""


class Outbox(Protocol):
    """Where a session's messages go."""

    format: Format
    lost: Callable[[], bytes]
    """Makes the message that tells of dropped events."""

    def push(self, frame: bytes, event: Event | None = None) -> None:
        """Sends now, or keeps until the reader is ready; never blocks."""

    def unsent(self) -> list[Event]:
        """Events that the reader was not given."""

    def stalled_s(self, now: float) -> float:
        """Seconds since the reader took anything, while something waits for it."""

    def abort(self) -> None:
        """Cuts the connection."""

    def end(self, code: int, reason: str) -> None:
        """Closes the connection after what was pushed."""


class Backlog:
    """A queue with a limit in messages and bytes. One that overflows starts anew with a note of the loss."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._waiting: deque[Waiting] = deque()
        self._bytes = 0
        self.since = 0.0
        """When the present wait began, in seconds of the monotonic clock."""

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, frame: bytes, event: Event | None, lost: Callable[[], bytes]) -> None:
        if not self._waiting:
            self.since = time.monotonic()
        if len(self._waiting) >= self._most or self._bytes + len(frame) > self._most_bytes:
            EVENTS_DROPPED.labels("slow_reader").inc(sum(1 for each in self._waiting if each.event))
            self._waiting.clear()
            self._bytes = 0
            self._append(Waiting(lost(), None))
        self._append(Waiting(frame, event))

    def take(self, most_bytes: int) -> bytes:
        """The oldest messages, at least one, joined."""
        taken: list[bytes] = []
        size = 0
        while self._waiting and (not taken or size + len(self._waiting[0].frame) <= most_bytes):
            frame = self._waiting.popleft().frame
            taken.append(frame)
            size += len(frame)
        self._bytes -= size
        self.since = time.monotonic()
        return b"".join(taken)

    def events(self) -> list[Event]:
        return [each.event for each in self._waiting if each.event]

    def _append(self, waiting: Waiting) -> None:
        self._waiting.append(waiting)
        self._bytes += len(waiting.frame)
