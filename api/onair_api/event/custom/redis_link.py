"""One subscriber connection to Redis that knows when it is dead.

redis-py's own PubSub reconnects by itself and says nothing of what it missed,
so this stands on its connection: any failure ends the link and the caller
makes a new one. A connection that is blackholed gives no error: pings are
sent, and silence is a failure.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection

PING_EVERY_S = 1.0
SILENCE_S = 3.5
CONNECT_WITHIN_S = 2.0


class Silent(ConnectionError):
    """Redis does not answer any more."""


class RedisLink:
    def __init__(self, pool: ConnectionPool) -> None:
        silent = {**pool.connection_kwargs, "socket_timeout": None}  # a quiet channel is no failure
        self._connection: AbstractConnection = pool.connection_class(**silent)
        self._heard = 0.0

    async def connect(self) -> None:
        """
        Raises:
            RedisError, OSError: Redis is away.
        """
        async with asyncio.timeout(CONNECT_WITHIN_S):
            await self._connection.connect()  # type: ignore[no-untyped-call]
        self._heard = time.monotonic()

    async def subscribe(self, channels: Iterable[str]) -> None:
        """The answer comes among the messages, as `subscribe`."""
        if names := list(channels):
            await self._connection.send_command("SUBSCRIBE", *names, check_health=False)

    async def unsubscribe(self, channel: str) -> None:
        await self._connection.send_command("UNSUBSCRIBE", channel, check_health=False)

    async def messages(self) -> AsyncIterator[tuple[str, str, bytes]]:
        """Kind (`message`, `subscribe`), channel and text, until something fails.

        Raises:
            RedisError, OSError: the connection broke, or nothing was heard for `SILENCE_S`.
        """
        reading: asyncio.Future[list[bytes]] | None = None
        pinged = 0.0
        try:
            while True:
                reading = reading or asyncio.ensure_future(self._read())
                now = time.monotonic()
                if now - pinged >= PING_EVERY_S:
                    pinged = now
                    await self._connection.send_command("PING", check_health=False)
                done, _ = await asyncio.wait({reading}, timeout=PING_EVERY_S)
                if done:
                    kind, channel, *rest = reading.result()
                    reading = None
                    self._heard = time.monotonic()
                    yield kind.decode(), channel.decode(), rest[0] if rest and kind == b"message" else b""
                elif time.monotonic() - self._heard > SILENCE_S:
                    raise Silent(f"Redis has said nothing for {SILENCE_S:g} s")
        finally:
            if reading:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    async def close(self) -> None:
        await self._connection.disconnect(nowait=True)

    async def _read(self) -> list[bytes]:
        answer = await self._connection.read_response(disable_decoding=True, timeout=None)
        return answer if isinstance(answer, list) else [b"pong", b""]
