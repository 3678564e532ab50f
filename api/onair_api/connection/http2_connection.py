"""HTTP/2 connections of native gRPC: hypercorn's, which count among the idle ones of their replica."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from h2.connection import ConnectionState
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.events import Closed, Event, RawData, Updated

from onair_api.connection.http2_streams import Http2Protocol
from onair_api.connection.http_connection import UnreadWatch
from onair_api.connection.idle_connections import IdleConnections

LINGER_S = 1.0
"""From the last byte sent to the end of a connection whose client does not close it."""


class Http2Connection(TCPServer):
    """One connection; `await` it to serve it to its end.

    It is closed once its client has closed it, or has not for a second. The kernel of a client whose server
    closes first discards what it has not read yet as soon as it sends something more; and grpc's core takes a
    stream whose end it has not confirmed for lost.
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
        self._ended = asyncio.Event()
        """Nothing comes from the client any more."""
        self._unread = UnreadWatch(self.transport)
        self._writes = 0
        """That wait for the client, or for each other."""

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
            if not isinstance(self.protocol.protocol, Http2Protocol):
                return  # hypercorn takes the first line of HTTP/2 for a request, which never ends
            if not event.idle:
                self._idle.asked(self)
            elif self._asked:
                self._idle.answered(self)
            self._asked = not event.idle
            if self._ended.is_set():
                return  # it would be kept for its next request
        if isinstance(event, RawData):
            await self._write(event)
        else:
            await super().protocol_send(event)

    async def _write(self, event: RawData) -> None:
        self._writes += 1
        if self._writes == 1:
            self._unread.start()
        try:
            await super().protocol_send(event)
            if self._writes > 1:
                self._unread.start()
        finally:
            self._writes -= 1
            if not self._writes:
                self._unread.stop()

    async def _read_data(self) -> None:
        try:
            await super()._read_data()
        except asyncio.CancelledError:
            # Applications say something to their clients as they are cancelled, who may read nothing of it
            self.loop.call_later(LINGER_S, self.transport.abort)
            raise
        finally:
            self._ended.set()
            # Hypercorn would keep responses that wait to be sent for good, be its task cancelled or not
            if isinstance(http2 := self.protocol.protocol, Http2Protocol):
                for each in list(http2.stream_buffers.values()):
                    await each.close()
        # It would keep the connection for its next request
        await self.idle_task.stop()

    async def _initiate_server_close(self) -> None:
        """Ends an idle connection, which `run` reads to its end."""
        if isinstance(http2 := self.protocol.protocol, Http2Protocol):
            await self._send_goaway(http2)
        await self.protocol.handle(Closed())
        if isinstance(http2, Http2Protocol):
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    await self._ended.wait()
        self.writer.close()

    async def _send_goaway(self, http2: Http2Protocol) -> None:
        """The client sends its next request by another connection, and so to another replica."""
        if http2.connection.state_machine.state is not ConnectionState.CLOSED:
            http2.connection.close_connection()
            await http2.send(RawData(data=http2.connection.data_to_send()))

    async def _close(self) -> None:
        task = asyncio.current_task()
        if not (task and task.cancelling()):
            # RuntimeError: another task reads
            with suppress(TimeoutError, OSError, RuntimeError):
                async with asyncio.timeout(LINGER_S):
                    while await self.reader.read(65_536):
                        pass
        limit = asyncio.timeout(LINGER_S)
        with suppress(TimeoutError):
            async with limit:
                await super()._close()
        if limit.expired():  # it does not read what is left for it
            self.transport.abort()
