"""A subscriber connection to Redis that detects when it is dead.

redis-py's own PubSub reconnects silently and loses what came meanwhile, so this
uses its connection directly: any failure ends the link, and the caller opens a
new one. A blackholed connection gives no error: the link sends pings, and fails
when nothing arrives. What is sent is queued, as writing ends only once the peer
takes it: neither who subscribes nor the watch for silence waits for that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ResponseError

from onair_api.redis_connections import NOT_THE_PRIMARY

PING_INTERVAL_S = 1.0
READ_TIMEOUT_S = 3.5
CONNECT_TIMEOUT_S = 2.0


class Unresponsive(ConnectionError):
    """Redis does not respond any more."""


class RedisLink:
    """One connection to Redis that subscribes to channels; pings show when it is dead."""

    def __init__(self, pool: ConnectionPool, absent: str) -> None:
        """
        Args:
            absent: a key that nothing is ever under.
        """
        options = {**pool.connection_kwargs, "socket_timeout": None}  # a quiet channel is no failure
        self._connection: AbstractConnection = pool.connection_class(**options)
        self._absent = absent
        self._transport: asyncio.WriteTransport | None = None
        self._unsent: list[tuple[str, ...]] = []
        self._to_send = asyncio.Event()

    async def connect(self) -> None:
        """Opens the connection.

        Raises:
            RedisError, OSError: Redis is unreachable, or this is not the primary.
        """
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            await self._connection.connect()  # type: ignore[no-untyped-call]
            await self._connection.send_command("DEL", self._absent, check_health=False)
            try:
                await self._connection.read_response()
            except NOT_THE_PRIMARY:
                raise
            except ResponseError:
                pass  # one that refuses writes for a while still has messages
        writer = self._connection._writer  # noqa: SLF001 - only its transport can be aborted
        self._transport = writer.transport if writer else None

    def subscribe(self, channels: Iterable[str]) -> None:
        """The response comes among the messages, as `subscribe`."""
        if names := list(channels):
            self._send("SUBSCRIBE", *names)

    def unsubscribe(self, channel: str) -> None:
        self._send("UNSUBSCRIBE", channel)

    async def messages(self) -> AsyncIterator[tuple[str, str, bytes]]:
        """Kind (`message`, `subscribe`), channel and text, until something fails.

        Raises:
            RedisError, OSError: the connection broke, or nothing arrived for `READ_TIMEOUT_S`.
        """
        writing = asyncio.ensure_future(self._write())
        reading = asyncio.ensure_future(self._read())
        pinged = silent_s = 0.0
        try:
            while True:
                now = time.monotonic()
                if now - pinged >= PING_INTERVAL_S:
                    pinged = now
                    self._send("PING")
                await asyncio.wait(
                    {reading, writing}, timeout=PING_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED
                )
                if reading.done():
                    kind, channel, *rest = reading.result()
                    reading = asyncio.ensure_future(self._read())
                    silent_s = 0.0
                    yield kind.decode(), channel.decode(), rest[0] if rest and kind == b"message" else b""
                elif writing.done():
                    writing.result()
                else:
                    # Not by the clock: while this process is held up, what has arrived is not read either
                    silent_s += PING_INTERVAL_S
                    if silent_s > READ_TIMEOUT_S:
                        raise Unresponsive(f"Redis has sent nothing for {READ_TIMEOUT_S:g} s")
        finally:
            self._abort()
            for task in (reading, writing):
                task.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)

    async def close(self) -> None:
        self._abort()
        await self._connection.disconnect(nowait=True)

    def _abort(self) -> None:
        """Ends the connection at once: closing it would wait until all that was written is taken."""
        if self._transport:
            self._transport.abort()

    def _send(self, *command: str) -> None:
        self._unsent.append(command)
        self._to_send.set()

    async def _write(self) -> None:
        while True:
            await self._to_send.wait()
            self._to_send.clear()
            commands, self._unsent = self._unsent, []
            for command in commands:
                await self._connection.send_command(*command, check_health=False)

    async def _read(self) -> list[bytes]:
        response = await self._connection.read_response(disable_decoding=True, timeout=None)
        return response if isinstance(response, list) else [b"pong", b""]
