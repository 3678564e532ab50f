"""A bounded queue of what a slow reader has not taken yet."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from onair_api.event.event import Event
from onair_api.event.replay.closed_session_position import Unsent
from onair_api.metrics import EVENTS_DROPPED


class QueuedMessage(NamedTuple):
    """A message that waits until its reader is ready."""

    frame: bytes
    event: Event | None
    """None: a reply, or the report of a loss."""
    is_loss: bool = False


class Backlog:
    """Bounded in messages and bytes. On overflow it drops all, and restarts with a report of the loss."""

    def __init__(self, max_messages: int, max_bytes: int) -> None:
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._queue: deque[QueuedMessage] = deque()
        self._taken: list[QueuedMessage] = []
        self._bytes = 0
        self.since = 0.0
        """Since when its oldest message has been the next to be taken, in seconds of the monotonic clock."""

    def __bool__(self) -> bool:
        return bool(self._queue)

    def add(
        self, frame: bytes, event: Event | None, loss_message: Callable[[], bytes], *, is_loss: bool = False
    ) -> None:
        """Queues a frame; where it is too much, instead of all that waits.

        Args:
            is_loss: the frame is a report of a loss itself.
        """
        if not self._queue:
            self.since = time.monotonic()
        if len(self._queue) >= self._max_messages or self._bytes + len(frame) > self._max_bytes:
            EVENTS_DROPPED.labels("slow_reader").inc(sum(1 for each in self._queue if each.event))
            self._queue.clear()
            self._bytes = 0
            self._append(QueuedMessage(loss_message(), None, is_loss=True))
        self._append(QueuedMessage(frame, event, is_loss))

    def take(self, max_bytes: int) -> bytes:
        """The oldest messages, at least one, joined. Those that were taken before are sent now."""
        self._taken = []
        size = 0
        while self._queue and (not self._taken or size + len(self._queue[0].frame) <= max_bytes):
            self._taken.append(message := self._queue.popleft())
            size += len(message.frame)
        self._bytes -= size
        self.since = time.monotonic()
        return b"".join(each.frame for each in self._taken)

    def sent(self) -> None:
        """What was taken is sent; until then it is not."""
        self._taken = []

    def withdraw(self) -> Unsent:
        """Takes back events, and reports of lost ones, that are not sent; replies stay."""
        unsent = [*self._taken, *self._queue]
        self._taken = []
        self._queue = deque(each for each in self._queue if not (each.event or each.is_loss))
        self._bytes = sum(len(each.frame) for each in self._queue)
        return Unsent([each.event for each in unsent if each.event], any(each.is_loss for each in unsent))

    def _append(self, message: QueuedMessage) -> None:
        self._queue.append(message)
        self._bytes += len(message.frame)
