"""Bounds the connections of a replica that have no request under way: anybody may open them."""

from __future__ import annotations

import asyncio
from typing import Protocol

from onair_api.metrics import IDLE_CONNECTIONS_CLOSED


class Connection(Protocol):
    """What is counted: a protocol of uvicorn, or of native gRPC."""

    @property
    def transport(self) -> asyncio.WriteTransport: ...


class IdleConnections:
    """Knows which connections wait, and since when.

    Of too many it closes the oldest of those that there are more of: those that have never sent a whole
    request head, or those whose last response is longest ago. So a new one has time to ask, and who opens
    thousands closes their own. Whoever has a request or a stream under way is never closed for others.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._silent: dict[Connection, None] = {}
        """That have not sent a whole request yet, the oldest first."""
        self._kept: dict[Connection, None] = {}
        """Whose responses are complete, the one with the oldest first."""

    def opened(self, connection: Connection) -> None:
        self._silent[connection] = None
        self._close_surplus()

    def asked(self, connection: Connection) -> None:
        """A request is under way."""
        self._silent.pop(connection, None)
        self._kept.pop(connection, None)

    def answered(self, connection: Connection) -> None:
        """Its response is complete."""
        self._kept[connection] = None
        self._close_surplus()

    def closed(self, connection: Connection) -> None:
        self.asked(connection)

    def _close_surplus(self) -> None:
        while len(self._silent) + len(self._kept) > self._most:
            more = self._silent if len(self._silent) > len(self._kept) else self._kept
            connection = next(iter(more))
            self.closed(connection)
            IDLE_CONNECTIONS_CLOSED.inc()
            connection.transport.abort()
