"""A network between publishers and an ingest pod, which a test makes slow or lossy, or cuts."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections.abc import Iterator
from typing import Self, cast

READ_BYTES = 16_384
SEED = 11


class Network:
    """Takes publishers at ports of its own, by TCP and UDP. Use as a context manager."""

    def __init__(self, tcp_port: int, udp_port: int) -> None:
        self.loss = 0.0
        """Part of the datagrams that are lost, in each direction."""
        self.lost = 0
        """Datagrams so far."""
        self.bytes_per_s: float | None = None
        """Of each TCP connection, to the pod."""
        self._targets = tcp_port, udp_port
        self._is_cut = False
        self._random = random.Random(SEED)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(5), "the network does not begin"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(5)

    def lead_to(self, tcp_port: int, udp_port: int) -> None:
        """Where publishers get that come from now on, as a Service leads them; others stay where they are."""
        self._targets = tcp_port, udp_port

    @property
    def udp_target(self) -> tuple[str, int]:
        return "127.0.0.1", self._targets[1]

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """Nothing passes meanwhile: TCP sends it again afterwards, datagrams are lost, and nobody is told."""
        self._is_cut = True
        self._loop.call_soon_threadsafe(self._passes.clear)
        try:
            yield
        finally:
            self._is_cut = False
            self._loop.call_soon_threadsafe(self._passes.set)

    @property
    def drops(self) -> bool:
        """Whether a datagram is lost now."""
        lost = self._is_cut or self._random.random() < self.loss
        self.lost += lost
        return lost

    async def _run(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._passes = asyncio.Event()
        self._passes.set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.tcp_port = int(server.sockets[0].getsockname()[1])
        transport, _ = await self._loop.create_datagram_endpoint(lambda: _Datagrams(self), ("127.0.0.1", 0))
        self.udp_port = int(transport.get_extra_info("sockname")[1])
        self._ready.set()
        await self._end.wait()
        server.close()
        transport.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass_on(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._targets[0])
        directions = (self._pump(reader, back, limited=True), self._pump(there, writer, limited=False))
        tasks = [asyncio.create_task(each) for each in directions]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in tasks:
                each.cancel()
            writer.transport.abort()
            back.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, limited: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while True:
                data = await reader.read(READ_BYTES)
                await self._passes.wait()
                if not data:
                    return
                if limited and self.bytes_per_s:
                    await asyncio.sleep(len(data) / self.bytes_per_s)
                writer.write(data)
                await writer.drain()


class _Datagrams(asyncio.DatagramProtocol):
    """Takes datagrams of publishers; each has a socket of its own to the pod, as a NAT has it."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._ways: dict[tuple[str, int], asyncio.Task[asyncio.DatagramTransport]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        if self._network.drops:
            return
        if address not in self._ways:
            self._ways[address] = asyncio.create_task(self._open(address))
        way = self._ways[address]
        if way.done():
            way.result().sendto(data)
        else:
            way.add_done_callback(lambda done: done.result().sendto(data))

    def connection_lost(self, error: Exception | None) -> None:
        for way in self._ways.values():
            way.cancel() if not way.done() else way.result().close()

    async def _open(self, address: tuple[str, int]) -> asyncio.DatagramTransport:
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: _Back(self._network, self.transport, address), remote_addr=self._network.udp_target
        )
        return transport


class _Back(asyncio.DatagramProtocol):
    def __init__(
        self, network: Network, publishers: asyncio.DatagramTransport, address: tuple[str, int]
    ) -> None:
        self._network, self._publishers, self._address = network, publishers, address

    def datagram_received(self, data: bytes, _: tuple[str, int]) -> None:
        if not self._network.drops:
            self._publishers.sendto(data, self._address)
