"""Cuts connections that were closed and whose last bytes nobody takes: a transport waits without end."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from onair_api.connection import http_connection
from onair_api.connection.http_connection import unread_bytes


class ClosingConnections:
    """Looks at a server's connections now and then: one that is closing has to get on from look to look."""

    def __init__(self, connections: Collection[Any]) -> None:
        """
        Args:
            connections: of uvicorn, as they are now; each has its `transport`.
        """
        self._connections = connections
        self._unread: dict[Any, int] = {}
        """Of those that are closing, at the last look."""
        self._next_look = -math.inf

    def look(self, now: float) -> None:
        """Looks, if the last time is long enough ago; `now` is of the monotonic clock, in seconds."""
        if now < self._next_look:
            return
        self._next_look = now + http_connection.UNREAD_TIMEOUT_S
        closing = [each for each in self._connections if each.transport.is_closing()]
        unread = {each: unread_bytes(each.transport) for each in closing}
        for each, left_bytes in unread.items():
            if left_bytes >= self._unread.get(each, math.inf):
                each.transport.abort()
        self._unread = unread
