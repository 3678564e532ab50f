"""Sends the messages of a stream over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from onair_api.connection.http_connection import Abortable
from onair_api.event.event import Event, Framing
from onair_api.event.replay.closed_session_position import Unsent
from onair_api.event.stream.backlog import Backlog
from onair_api.settings import EventSettings

WRITE_BYTES = 65_536
"""Written at a time."""


class HttpSender:
    """Queues messages for the task that writes the response."""

    loss_message: Callable[[], bytes]

    def __init__(self, format_: Framing, transport: Abortable | None, settings: EventSettings) -> None:
        self.format = format_
        self._transport = transport
        self._backlog = Backlog(settings.backlog_events, settings.backlog_bytes)
        self._wake = asyncio.Event()
        self._ended = False

    def push(self, frame: bytes, event: Event | None = None, *, is_loss: bool = False) -> None:
        self._backlog.add(frame, event, self.loss_message, is_loss=is_loss)
        self._wake.set()

    def withdraw(self) -> Unsent:
        return self._backlog.withdraw()

    def stalled_s(self, now: float) -> float:
        return now - self._backlog.since if self._backlog else 0.0

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def end(self, code: int, reason: str) -> None:
        self._ended = True
        self._wake.set()

    async def chunk(self, heartbeat_s: float, max_bytes: int = WRITE_BYTES) -> bytes | None:
        """The bytes to write next; empty when the stream ends, None if nothing came for so long.

        Asked again, those before are sent, unless the connection is lost: what is written then goes nowhere.
        """
        if self._is_lost:
            return b""
        self._backlog.sent()
        try:
            async with asyncio.timeout(heartbeat_s):
                while not self._backlog and not self._ended:
                    self._wake.clear()
                    await self._wake.wait()
        except TimeoutError:
            return None
        return self._backlog.take(max_bytes) if self._backlog and not self._is_lost else b""

    @property
    def _is_lost(self) -> bool:
        return self._transport is not None and self._transport.is_closing()
