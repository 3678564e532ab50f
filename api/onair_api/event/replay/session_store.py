"""Stores closed sessions until they come back: in Redis for all replicas, else in this replica's memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import orjson
import structlog
from cachetools import TTLCache
from redis.asyncio import Redis
from redis.exceptions import RedisError

from onair_api.event.replay.closed_session_position import ClosedSession

log = structlog.get_logger()

KEY = "onair:session:{}:{}"
MAX_LOCAL = 20_000


class SessionStore:
    def __init__(
        self,
        redis: Redis | None,
        connected: Callable[[], bool],
        keep_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            connected: whether Redis is reachable; while it is not, a session must return to this replica.
        """
        self._redis = redis
        self._connected = connected
        self._keep_s = keep_s
        self._local: TTLCache[str, ClosedSession] = TTLCache(MAX_LOCAL, keep_s, clock)

    async def keep(self, user_id: str, session_id: str, closed: ClosedSession) -> None:
        key = KEY.format(user_id, session_id)
        self._local.expire()
        if not await self._store(key, closed):
            self._local[key] = closed

    async def take(self, user_id: str, session_id: str) -> ClosedSession | None:
        """Removes the closed session of this user and id, and returns it."""
        key = KEY.format(user_id, session_id)
        local: ClosedSession | None = self._local.pop(key, None)
        return local or await self._fetch(key)

    async def _store(self, key: str, closed: ClosedSession) -> bool:
        if self._redis is None or not self._connected():
            return False
        try:
            await self._redis.set(key, orjson.dumps(closed.json()), px=round(self._keep_s * 1000))
        except (TimeoutError, RedisError, OSError) as error:
            log.warning("stream.session_not_stored", error=type(error).__name__)
            return False
        return True

    async def _fetch(self, key: str) -> ClosedSession | None:
        if self._redis is None or not self._connected():
            return None
        try:
            text = await self._redis.getdel(key)
            return ClosedSession.from_json(orjson.loads(text)) if text else None
        except (TimeoutError, RedisError, OSError, ValueError, KeyError, TypeError) as error:
            log.warning("stream.session_not_fetched", error=type(error).__name__)
            return None
