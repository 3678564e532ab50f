"""A subscriber connection to Redis that detects when it is dead.

redis-py's own PubSub reconnects silently and loses what came meanwhile, so this
uses its connection directly: any failure ends the link, and the caller opens a
new one. A blackholed connection gives no error: the link sends pings, and fails
when nothing arrives.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection

PING_INTERVAL_S = 1.0
READ_TIMEOUT_S = 3.5
CONNECT_TIMEOUT_S = 2.0


class Unresponsive(ConnectionError):
    """Redis does not respond any more."""


class RedisLink:
    """One connection to Redis that subscribes to channels; pings show when it is dead."""

    def __init__(self, pool: ConnectionPool) -> None:
        options = {**pool.connection_kwargs, "socket_timeout": None}  # a quiet channel is no failure
        self._connection: AbstractConnection = pool.connection_class(**options)
        self._received_at = 0.0

    async def connect(self) -> None:
        """Opens the connection.

        Raises:
            RedisError, OSError: Redis is unreachable.
        """
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            await self._connection.connect()  # type: ignore[no-untyped-call]
        self._received_at = time.monotonic()

    async def subscribe(self, channels: Iterable[str]) -> None:
        """The response comes among the messages, as `subscribe`."""
        if names := list(channels):
            await self._connection.send_command("SUBSCRIBE", *names, check_health=False)

    async def unsubscribe(self, channel: str) -> None:
        await self._connection.send_command("UNSUBSCRIBE", channel, check_health=False)

    async def messages(self) -> AsyncIterator[tuple[str, str, bytes]]:
        """Kind (`message`, `subscribe`), channel and text, until something fails.

        Raises:
            RedisError, OSError: the connection broke, or nothing arrived for `READ_TIMEOUT_S`.
        """
        reading: asyncio.Future[list[bytes]] | None = None
        pinged = 0.0
        try:
            while True:
                reading = reading or asyncio.ensure_future(self._read())
                now = time.monotonic()
                if now - pinged >= PING_INTERVAL_S:
                    pinged = now
                    await self._connection.send_command("PING", check_health=False)
                done, _ = await asyncio.wait({reading}, timeout=PING_INTERVAL_S)
                if done:
                    kind, channel, *rest = reading.result()
                    reading = None
                    self._received_at = time.monotonic()
                    yield kind.decode(), channel.decode(), rest[0] if rest and kind == b"message" else b""
                elif time.monotonic() - self._received_at > READ_TIMEOUT_S:
                    raise Unresponsive(f"Redis has sent nothing for {READ_TIMEOUT_S:g} s")
        finally:
            if reading:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    async def close(self) -> None:
        await self._connection.disconnect(nowait=True)

    async def _read(self) -> list[bytes]:
        response = await self._connection.read_response(disable_decoding=True, timeout=None)
        return response if isinstance(response, list) else [b"pong", b""]
