"""Values that all replicas know for a while, kept in Redis; only in memory while it is unreachable."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import structlog
from cachetools import TLRUCache
from redis.asyncio import Redis
from redis.exceptions import RedisError

from onair_api.redis_connections import redis_client
from onair_api.settings import RedisSettings

log = structlog.get_logger()

TIMEOUT_S = 0.5
MOST_IN_MEMORY = 20_000


class KeptValue(NamedTuple):
    """A value in memory."""

    value: str
    life_s: int


class KeptValues:
    """Values by keys, each with a life of its own."""

    def __init__(self, redis: RedisSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = redis.keys
        self._redis: Redis | None = None
        if redis.url:
            self._redis = redis_client(redis, TIMEOUT_S, decode_responses=True)
        self._memory: TLRUCache[str, KeptValue] = TLRUCache(MOST_IN_MEMORY, _end_of, clock)

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.aclose()

    async def get(self, key: str) -> str | None:
        if self._redis is not None:
            try:
                found = await self._redis.get(self._keys.room(key))
            except (TimeoutError, RedisError, OSError) as error:
                _unreachable(error)
            else:
                if found is not None:
                    return str(found)
        return self._remembered(key)

    async def get_all(self, keys: Sequence[str]) -> list[str | None]:
        """The values of several keys."""
        found: Any = [None] * len(keys)
        if self._redis is not None:
            try:
                found = await self._redis.mget([self._keys.room(key) for key in keys])
            except (TimeoutError, RedisError, OSError) as error:
                _unreachable(error)
        return [
            self._remembered(key) if value is None else value for key, value in zip(keys, found, strict=True)
        ]

    async def put(self, key: str, value: str, life_s: int) -> None:
        self._remember(key, value, life_s)
        if self._redis is not None:
            try:
                await self._redis.set(self._keys.room(key), value, ex=life_s)
            except (TimeoutError, RedisError, OSError) as error:
                _unreachable(error)

    async def claim(self, key: str, value: str, life_s: int) -> bool:
        """Whether the key has this value now; the first of several that come at once decides."""
        if self._redis is not None:
            try:
                if not await self._redis.set(self._keys.room(key), value, ex=life_s, nx=True):
                    return await self._redis.get(self._keys.room(key)) == value
            except (TimeoutError, RedisError, OSError) as error:
                _unreachable(error)
        if self._remembered(key) not in (None, value):
            return False
        self._remember(key, value, life_s)
        return True

    async def drop(self, key: str) -> None:
        self._memory.pop(key, None)
        if self._redis is not None:
            try:
                await self._redis.delete(self._keys.room(key))
            except (TimeoutError, RedisError, OSError) as error:
                _unreachable(error)

    def _remembered(self, key: str) -> str | None:
        kept = self._memory.get(key)
        return kept.value if kept else None

    def _remember(self, key: str, value: str, life_s: int) -> None:
        self._memory[key] = KeptValue(value, life_s)


def _end_of(_: str, kept: KeptValue, now_s: float) -> float:
    return now_s + kept.life_s


def _unreachable(error: Exception) -> None:
    log.warning("rooms.redis_unreachable", error=type(error).__name__)
