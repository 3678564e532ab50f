"""Rate limits of tokens, lineages and services, counted over all replicas in Redis.

A request waits for nothing: it is counted here and reported to Redis in batches
a moment later; a token or service over its limit is refused until the window
ends. So a limit is exceeded by at most what one batch holds per replica. While
Redis is unreachable each replica counts for itself. See docs/decisions/0012.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import structlog
from limits import RateLimitItemPerSecond
from limits.aio.storage import RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter
from redis.asyncio import ConnectionPool

from onair_api.errors import ResourceExhausted
from onair_api.metrics import RATE_LIMITED, RATE_LIMITS_OPEN
from onair_api.redis_connections import connection_options
from onair_api.settings import RateLimitSettings, RedisSettings

log = structlog.get_logger()

TICK_S = 0.05
SHARE = 0.02
"""A counter is reported to Redis when it holds this share of its limit …"""
AGE = {"token": 0.1, "lineage": 1.0, "service": 0.1}
"""… or is this share of a window old, whichever comes first. A lineage is counted beside each of its tokens:
one that is seldom used hardly costs a round trip more."""
LINEAGE_SHARE = 0.25
"""Of the limit of a service: what the tokens of one lineage may take of it, however many they are."""
TIMEOUT_S = 1.0
OPEN_S = 5.0
"""Pause after Redis failed."""
PARALLEL = 16
SHORTEST_REFUSAL_S = 0.5
"""Redis says in whole seconds when a window ends: rounded, so 0 from half a second before it."""

_WHOSE = {
    "token": "with this access token",
    "lineage": "with this access token, its refreshes and others of its guest code",
    "service": "from this service",
}


class RateKey(NamedTuple):
    """What requests are counted for."""

    scope: str
    """`token`, `lineage` or `service`."""
    id: str


@dataclass
class Counter:
    """Requests that this replica has counted and not reported to Redis yet."""

    hits: int
    since: float
    """Monotonic time of the first of them."""
    tried: bool = False
    """Redis was asked to count some of them, and did not respond."""


class RateLimits:
    """Counts requests, and refuses those that are too many."""

    def __init__(self, settings: RateLimitSettings, redis: RedisSettings) -> None:
        self._window_s = settings.window_s
        self._items = {
            scope: RateLimitItemPerSecond(amount, settings.window_s, namespace=f"onair/{scope}")
            for scope, amount in _amounts(settings).items()
            if amount and redis.url
        }
        self._redis = redis
        self._counters: dict[RateKey, Counter] = {}
        self._refused_until: dict[RateKey, float] = {}
        self._open = True
        """Each replica counts for itself: Redis is unreachable, or was not reached yet."""
        self._alone: dict[RateKey, Counter] = {}
        """What this replica has counted in the present window meanwhile."""

    def count(self, token_id: str | None, service_id: str, lineage: Sequence[str] = ()) -> None:
        """Counts a request.

        Args:
            lineage: of the token; its last id is the same for all refreshes of it.

        Raises:
            ResourceExhausted: there were too many of this token, lineage or service; says when to retry.
        """
        if not self._items:
            return
        now = time.monotonic()
        if token_id is not None:
            self._count(RateKey("token", token_id), now)
        if lineage:
            self._count(RateKey("lineage", lineage[-1]), now)
        self._count(RateKey("service", service_id), now)

    def _count(self, key: RateKey, now: float) -> None:
        if key.scope not in self._items:
            return
        until = self._refused_until.get(key, 0.0)
        if until > now:
            RATE_LIMITED.labels(key.scope).inc()
            wait_s = math.ceil(until - now)
            raise ResourceExhausted(
                f"too many requests {_WHOSE[key.scope]}; try again in {wait_s} s", retry_after_s=wait_s
            )
        if self._open:
            self._count_alone(key, now)
        else:
            self._counters.setdefault(key, Counter(0, now)).hits += 1

    def _count_alone(self, key: RateKey, now: float) -> None:
        counter = self._alone.get(key)
        if counter is None or now - counter.since >= self._window_s:
            counter = self._alone[key] = Counter(0, now)
        counter.hits += 1
        if counter.hits >= self._items[key.scope].amount:
            self._refused_until[key] = counter.since + self._window_s

    async def run(self) -> None:
        """Reports to Redis until cancelled."""
        if not self._items:
            return
        pool: Any = ConnectionPool.from_url(
            str(self._redis.url),
            socket_connect_timeout=TIMEOUT_S,
            socket_timeout=TIMEOUT_S,
            **connection_options(self._redis),
        )
        storage = RedisStorage(f"async+{self._redis.url}", implementation="redispy", connection_pool=pool)
        try:
            await self._report_forever(FixedWindowRateLimiter(storage))
        finally:
            await pool.disconnect()

    async def _report_forever(self, limiter: FixedWindowRateLimiter) -> None:
        while True:
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    await self._report(limiter, time.monotonic())
            except Exception as error:  # noqa: BLE001 - whatever a Redis client raises, requests go on
                self._count_without_redis(error)
                await asyncio.sleep(OPEN_S)
                continue
            if self._open:
                self._open = False
                self._counters, self._alone = self._alone, {}
                RATE_LIMITS_OPEN.set(0)
            await asyncio.sleep(TICK_S)

    def _count_without_redis(self, error: Exception) -> None:
        if not self._open:
            log.warning("rate_limits.open", error=type(error).__name__)
        self._open = True
        RATE_LIMITS_OPEN.set(1)
        now = time.monotonic()
        counted = self._alone | self._counters
        self._counters = {}
        self._alone = {key: each for key, each in counted.items() if now - each.since < self._window_s}
        self._forget_ended_refusals(now)

    async def _report(self, limiter: FixedWindowRateLimiter, now: float) -> None:
        if self._open:
            await limiter.get_window_stats(next(iter(self._items.values())), "-")  # is Redis there?
        self._forget_ended_refusals(now)
        due = [key for key, counter in self._counters.items() if self._is_due(key, counter, now)]
        turns = asyncio.Semaphore(PARALLEL)

        async def report(key: RateKey) -> None:
            async with turns:
                await self._report_one(limiter, key)

        async with asyncio.TaskGroup() as group:
            for key in due:
                group.create_task(report(key))

    def _forget_ended_refusals(self, now: float) -> None:
        self._refused_until = {key: until for key, until in self._refused_until.items() if until > now}

    async def _report_one(self, limiter: FixedWindowRateLimiter, key: RateKey) -> None:
        item = self._items[key.scope]
        counter = self._counters.pop(key)
        try:
            accepted = await limiter.hit(item, key.id, cost=counter.hits)
        except BaseException:
            # Once more, and no oftener: it may have counted them before it was silent
            if not counter.tried:
                left = self._counters.setdefault(key, Counter(0, counter.since))
                left.hits, left.tried = left.hits + counter.hits, True
            raise
        if accepted:
            return
        self._refused_until[key] = time.monotonic() + SHORTEST_REFUSAL_S
        stats = await limiter.get_window_stats(item, key.id)
        left_s = min(max(stats.reset_time - time.time(), SHORTEST_REFUSAL_S), self._window_s)
        self._refused_until[key] = time.monotonic() + left_s

    def _is_due(self, key: RateKey, counter: Counter, now: float) -> bool:
        return (
            counter.hits >= SHARE * self._items[key.scope].amount
            or now - counter.since >= AGE[key.scope] * self._window_s
        )


def _amounts(settings: RateLimitSettings) -> dict[str, int]:
    """The limit of each scope; 0 is without one.

    A lineage has one only if tokens and services have: those who redeem the same guest code share theirs, so
    it is not that of a token, and keeps one user from taking what all of a service share.
    """
    token, service = settings.per_token, settings.per_service
    lineage = max(token, int(LINEAGE_SHARE * service)) if token and service else 0
    return {"token": token, "lineage": lineage, "service": service}
