"""Values that replicas leave each other in Redis for a while, counted with the custom events of a service."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis

from onair_api.event.custom import scripts
from onair_api.redis_keys import RedisKeys


class CountedValues:
    """Implements `event.changes.event_details.SharedValues`."""

    def __init__(self, redis: Redis, redis_keys: RedisKeys, service_bytes: int) -> None:
        """
        Args:
            service_bytes: at most so many of one service are kept; the largest values and streams go first.
        """
        self._redis = redis
        self._keys = redis_keys
        self._service_bytes = service_bytes
        self._keep = redis.register_script(scripts.KEEP)

    async def put(self, name: str, value: bytes, life_s: int, service_id: str) -> None:
        keys = [self._keys.batch(name), *self._keys.of_a_service(service_id)]
        await self._keep(keys=keys, args=[value, life_s, self._service_bytes])

    async def get(self, name: str) -> bytes | None:
        found: Any = await self._redis.xrange(self._keys.batch(name), count=1)
        return found[0][1].get(b"v") if found else None
