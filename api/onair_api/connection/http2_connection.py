"""HTTP/2 connections of native gRPC: hypercorn's, which count among the idle ones of their replica."""

from __future__ import annotations

import asyncio
from typing import Any

from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.events import Event, Updated
from hypercorn.protocol.h2 import H2Protocol

from onair_api.connection.idle_connections import IdleConnections


class Http2Connection(TCPServer):
    """One connection; `await` it to serve it to its end."""

    def __init__(self, idle: IdleConnections, *of_hypercorn: Any) -> None:
        """
        Args:
            idle: all of the replica's.
            of_hypercorn: what its TCPServer takes.
        """
        super().__init__(*of_hypercorn)
        self._idle = idle
        self._asked = False

    @property
    def transport(self) -> asyncio.WriteTransport:
        return self.writer.transport

    async def run(self) -> None:
        self._idle.opened(self)
        try:
            await super().run()
        finally:
            self._idle.closed(self)

    async def protocol_send(self, event: Event) -> None:
        if isinstance(event, Updated):
            if not isinstance(self.protocol.protocol, H2Protocol):
                return  # hypercorn takes the first line of HTTP/2 for a request, which never ends
            if not event.idle:
                self._idle.asked(self)
            elif self._asked:
                self._idle.answered(self)
            self._asked = not event.idle
        await super().protocol_send(event)
