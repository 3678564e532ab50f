"""How many requests all replicas have counted, in Redis: one script call for many tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from limits import RateLimitItem
from redis.asyncio import Redis

PREFIX = "LIMITS:"

ADD = """
local window_ms, over = tonumber(ARGV[1]), {}
for i, key in ipairs(KEYS) do
  local count = redis.call('INCRBY', key, ARGV[2 * i])
  local left_ms = redis.call('PTTL', key)
  if left_ms < 0 then
    redis.call('PEXPIRE', key, window_ms)
    left_ms = window_ms
  end
  if count > tonumber(ARGV[2 * i + 1]) then
    over[#over + 1] = i
    over[#over + 1] = left_ms
  end
end
return over
"""
"""KEYS: counts. ARGV: milliseconds of a window; for each key how many more, and its limit.
Returns which are beyond their limit, counted from 1, each with the milliseconds until its window ends.
"""


class RateKey(NamedTuple):
    """What requests are counted for."""

    scope: str
    """`token`, `lineage` or `service`."""
    id: str


class RequestCounts:
    """The counts that all replicas share."""

    def __init__(self, redis: Redis, items: Mapping[str, RateLimitItem], window_s: float) -> None:
        """
        Args:
            items: the limits by scope.
        """
        self._add = redis.register_script(ADD)
        self._items = items
        self._window_ms = round(window_s * 1000)

    async def add(self, hits: Mapping[RateKey, int]) -> dict[RateKey, float]:
        """Counts requests; gives what is over its limit, and in how many seconds each's window ends.

        Raises:
            RedisError, OSError: they may not be counted.
        """
        keys, counted = list(hits), list[int]()
        for key, more in hits.items():
            counted += (more, self._items[key.scope].amount)
        over = await self._add(keys=[self._name(key) for key in keys], args=[self._window_ms, *counted])
        return {keys[i - 1]: left_ms / 1000 for i, left_ms in zip(over[::2], over[1::2], strict=True)}

    def _name(self, key: RateKey) -> str:
        return PREFIX + self._items[key.scope].key_for(key.id)
