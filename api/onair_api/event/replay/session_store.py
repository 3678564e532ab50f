"""Where closed sessions are kept until they come back: in this replica, and in Redis for the others."""

from __future__ import annotations

import time
from collections import OrderedDict

import orjson
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from onair_api.event.replay.closed_session import Departure

log = structlog.get_logger()

KEY = "onair:session:{}:{}"
MOST = 20_000


class Departures:
    def __init__(self, redis: Redis | None, keep_s: float) -> None:
        self._redis = redis
        self._keep_s = keep_s
        self._here: OrderedDict[str, tuple[float, Departure]] = OrderedDict()

    async def keep(self, user_id: str, session_id: str, departure: Departure, *, redis: bool) -> None:
        """
        Args:
            redis: whether Redis can be reached; where it cannot, the session must come back to this replica.
        """
        key = KEY.format(user_id, session_id)
        if not (redis and await self._store(key, departure)):
            self._here[key] = (time.monotonic() + self._keep_s, departure)
            self._here.move_to_end(key)
        while self._here and (
            len(self._here) > MOST or next(iter(self._here.values()))[0] < time.monotonic()
        ):
            self._here.popitem(last=False)

    async def take(self, user_id: str, session_id: str, *, redis: bool) -> Departure | None:
        """The departure of this session, for once."""
        key = KEY.format(user_id, session_id)
        end, here = self._here.pop(key, (0.0, None))
        if here is not None and end > time.monotonic():
            return here
        return await self._fetch(key) if redis else None

    async def _store(self, key: str, departure: Departure) -> bool:
        if self._redis is None:
            return False
        try:
            await self._redis.set(key, orjson.dumps(departure.json()), px=round(self._keep_s * 1000))
        except (TimeoutError, RedisError, OSError) as error:
            log.warning("stream.departure_not_kept", error=type(error).__name__)
            return False
        return True

    async def _fetch(self, key: str) -> Departure | None:
        if self._redis is None:
            return None
        try:
            text = await self._redis.getdel(key)
            return Departure.from_json(orjson.loads(text)) if text else None
        except (TimeoutError, RedisError, OSError, ValueError, KeyError, TypeError) as error:
            log.warning("stream.departure_not_read", error=type(error).__name__)
            return None
