"""Keeps in Redis, for a minute, what the event of a write says beyond the difference of two versions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import orjson
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from onair_crds.shapes import JsonObject

log = structlog.get_logger()

KEY = "onair:batch:{}"
KEEP_S = 60
LOOKUP_TIMEOUT_S = 0.25
LOOKS = 10
"""None takes more of that time than its part: that this process did not run is not the fault of Redis."""


class EventDetails:
    """Implements `layout.event_details.EventDetailsStore`."""

    def __init__(self, redis: Redis | None, connected: Callable[[], bool]) -> None:
        self._redis = redis
        self._connected = connected

    @property
    def available(self) -> bool:
        return self._redis is not None and self._connected()

    async def keep(self, nonce: str, details: JsonObject) -> bool:
        """Never fails the write: where details cannot be kept, the event says what the difference says."""
        if self._redis is None or not self._connected():
            return False
        try:
            await self._redis.set(KEY.format(nonce), orjson.dumps(details), ex=KEEP_S)
        except (TimeoutError, RedisError, OSError, orjson.JSONEncodeError) as error:
            log.warning("event_details.not_kept", error=type(error).__name__)
            return False
        return True

    async def find(self, nonce: str) -> JsonObject | None:
        if self._redis is None or not self._connected():
            return None
        try:
            text = await _in_time(self._redis.get(KEY.format(nonce)))
            value = orjson.loads(text) if text else None
        except (TimeoutError, RedisError, OSError, orjson.JSONDecodeError) as error:
            log.warning("event_details.not_found", error=type(error).__name__)
            return None
        return value if isinstance(value, dict) else None


async def _in_time(lookup: Awaitable[bytes | str | None]) -> bytes | str | None:
    """Waits for a lookup.

    Raises:
        TimeoutError: Redis had not answered when this process looked for it so often.
    """
    task = asyncio.ensure_future(lookup)
    try:
        for _ in range(LOOKS):
            await asyncio.wait({task}, timeout=LOOKUP_TIMEOUT_S / LOOKS)
            if task.done():
                return task.result()
        raise TimeoutError
    finally:
        task.cancel()
