"""A TCP proxy whose network can be cut in either direction: what was sent is lost, and nobody is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class CutProxy:
    """Forwards connections to a port of this machine."""

    def __init__(self, target_port: int) -> None:
        self.to_server = True
        self.to_client = True
        """Whether bytes go through in this direction. A connection that has lost some never recovers."""
        self.port = 0
        self.used = asyncio.Event()
        """A client has sent something."""
        self._through = asyncio.Event()
        self._through.set()
        self._target_port = target_port
        self._tasks: set[asyncio.Task[None]] = set()

    def lead_to(self, port: int) -> None:
        """Forwards connections from now on to another port."""
        self._target_port = port

    def hold(self) -> None:
        """Accepts connections, and keeps what clients send until it is let through: nobody responds."""
        self._through.clear()

    def let_through(self) -> None:
        self._through.set()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target_port)
        both = [
            asyncio.create_task(self._forward(reader, back, to_server=True)),
            asyncio.create_task(self._forward(there, writer, to_server=False)),
        ]
        self._tasks.update(both)
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (writer, back):
                each.transport.abort()

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, to_server: bool
    ) -> None:
        whole = True
        try:
            while data := await reader.read(65536):
                if to_server:
                    self.used.set()
                    await self._through.wait()
                whole = whole and (self.to_server if to_server else self.to_client)
                if whole:
                    writer.write(data)
        except OSError:
            return

    def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.create_task(self._connection(reader, writer)))

    def cut(self) -> None:
        """Ends all connections, for both ends to see."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def cut_proxy(target_port: int, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[CutProxy]:
    """A proxy that listens at an address of this machine, by default at a free port."""
    proxy = CutProxy(target_port)
    server = await asyncio.start_server(proxy.connect, host, port)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
