"""HTTP/2 connections of native gRPC: hypercorn's, which count among the idle ones of their replica."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.events import Closed, Event, Updated
from hypercorn.protocol.h2 import H2Protocol

from onair_api.connection.idle_connections import IdleConnections

LINGER_S = 1.0
"""From the last byte sent to the end of a connection whose client does not close it."""


class Http2Connection(TCPServer):
    """One connection; `await` it to serve it to its end.

    It ends once its client has ended it. The kernel of one whose server closes first discards what it has not
    read yet as soon as it sends something more; and grpc's own takes a stream whose end it has not confirmed
    for lost.
    """

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

    async def _initiate_server_close(self) -> None:
        """Ends an idle connection, which `run` reads to its end."""
        await self.protocol.handle(Closed())
        await asyncio.wait([asyncio.ensure_future(self.writer.wait_closed())], timeout=LINGER_S)
        self.writer.close()

    async def _close(self) -> None:
        # RuntimeError: another task reads
        with suppress(TimeoutError, OSError, RuntimeError):
            async with asyncio.timeout(LINGER_S):
                while await self.reader.read(65_536):
                    pass
        await super()._close()
