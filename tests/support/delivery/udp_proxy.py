"""Forwards datagrams as a bad network does: late, not all, too slowly, or none."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
from typing import Any, Self

Address = tuple[str, int]


class UdpProxy:
    """Forwards to a UDP port. Use as an async context manager; its attributes may change at any time."""

    def __init__(self, to_port: int, host: str = "127.0.0.1", port: int = 0) -> None:
        """
        Args:
            host, port: where it is; port 0 is any that is free.
        """
        self.delay_s = 0.0
        self.loss = 0.0
        self.bytes_per_s: float | None = None
        self.queue_bytes = 64 * 1024
        self.up = self.down = True
        """Whether anything passes: towards the server, and back."""
        self.bad: set[Address] | None = None
        """The clients that are affected; None for all of them."""
        self.host, self.port = host, port
        self._server: Address = ("127.0.0.1", to_port)
        self._backs: dict[Address, socket.socket] = {}
        self._free_at = 0.0
        self._random = random.Random(1)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._front, _ = await self._loop.create_datagram_endpoint(
            lambda: _Receiver(self._from_client), local_addr=(self.host, self.port)
        )
        self.port = self._front.get_extra_info("sockname")[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._front.close()
        for back in self._backs.values():
            self._loop.remove_reader(back)
            back.close()

    @property
    def clients(self) -> set[Address]:
        return set(self._backs)

    def _from_client(self, data: bytes, client: Address) -> None:
        if self.bad is not None and client not in self.bad:
            self._forward(data, client)
            return
        if not self.up or self._random.random() < self.loss:
            return
        wait_s = self.delay_s + self._queueing_s(len(data))
        if wait_s >= 0:
            self._loop.call_later(wait_s, self._forward, data, client)

    def _queueing_s(self, size: int) -> float:
        """How long the link is busy before; far below zero where the queue is full."""
        if self.bytes_per_s is None:
            return 0.0
        now = self._loop.time()
        if (self._free_at - now) * self.bytes_per_s > self.queue_bytes:
            return float("-inf")
        self._free_at = max(now, self._free_at) + size / self.bytes_per_s
        return self._free_at - now

    def _forward(self, data: bytes, client: Address) -> None:
        if client not in self._backs:
            back = self._backs[client] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            back.setblocking(False)
            back.connect(self._server)
            self._loop.add_reader(back, lambda: self._from_server(back, client))
        with contextlib.suppress(OSError):
            self._backs[client].send(data)

    def _from_server(self, back: socket.socket, client: Address) -> None:
        try:
            data = back.recv(65536)
        except OSError:
            return
        if self.bad is not None and client not in self.bad:
            self._front.sendto(data, client)
        elif self.down and self._random.random() >= self.loss:
            self._loop.call_later(self.delay_s, self._front.sendto, data, client)


class _Receiver(asyncio.DatagramProtocol):
    def __init__(self, received: Any) -> None:
        self._received = received

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self._received(data, addr)
