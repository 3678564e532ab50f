"""Rate limits of tokens, lineages and services, counted over all replicas in Redis.

A request waits for nothing: it is counted here and reported to Redis in batches
a moment later; a token or service over its limit is refused until the window
ends. So a limit is exceeded by at most what one batch holds per replica. While
Redis is unreachable each replica counts for itself. See docs/decisions/0012.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import structlog
from limits import RateLimitItemPerSecond

from onair_api.auth.request_counts import RateKey, RequestCounts
from onair_api.errors import ResourceExhausted
from onair_api.metrics import RATE_LIMITED, RATE_LIMITS_OPEN
from onair_api.redis_connections import redis_client
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
TOGETHER = 1000
"""So many counters are reported at once at most, those that are due for longest first: of more, others would
wait for this process for too long."""

_WHOSE = {
    "token": "with this access token",
    "lineage": "with this access token, its refreshes and others of its guest code",
    "service": "from this service",
}


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
            scope: RateLimitItemPerSecond(amount, settings.window_s, namespace=redis.keys.counts(scope))
            for scope, amount in _amounts(settings).items()
            if amount and redis.url
        }
        self._redis = redis
        self._counters: dict[str, dict[RateKey, Counter]] = {scope: {} for scope in self._items}
        """By scope, those that began first at the head of each."""
        self._full: dict[RateKey, None] = {}
        """Those of them that hold their share of a limit."""
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
            return
        counters = self._counters[key.scope]
        counter = counters.get(key)
        if counter is None:
            counter = counters[key] = Counter(0, now)
        counter.hits += 1
        if self._is_full(key, counter):
            self._full[key] = None

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
        redis = redis_client(self._redis, TIMEOUT_S)
        try:
            await self._report_forever(RequestCounts(redis, self._items, self._window_s))
        finally:
            await redis.aclose()

    async def _report_forever(self, counts: RequestCounts) -> None:
        while True:
            try:
                await self._report(counts, time.monotonic())
            except Exception as error:  # noqa: BLE001 - whatever a Redis client raises, requests go on
                self._count_without_redis(error)
                await asyncio.sleep(OPEN_S)
                continue
            if self._open:
                self._count_with_redis(time.monotonic())
            await asyncio.sleep(TICK_S)

    def _count_with_redis(self, now: float) -> None:
        """From now on Redis counts; what was counted without it is reported as if it had begun bit by bit."""
        self._open = False
        RATE_LIMITS_OPEN.set(0)
        for key, counter in self._alone.items():
            counter.since = now - random.uniform(0, self._age_s(key.scope))  # noqa: S311 - spreads load
        for key, counter in sorted(self._alone.items(), key=lambda each: each[1].since):
            self._counters[key.scope][key] = counter
            if self._is_full(key, counter):
                self._full[key] = None
        self._alone = {}

    def _count_without_redis(self, error: Exception) -> None:
        if not self._open:
            log.warning("rate_limits.open", error=type(error).__name__)
        self._open = True
        RATE_LIMITS_OPEN.set(1)
        now = time.monotonic()
        counted = dict(self._alone)
        for counters in self._counters.values():
            counted |= counters
            counters.clear()
        self._full.clear()
        self._alone = {key: each for key, each in counted.items() if now - each.since < self._window_s}
        self._forget_ended_refusals(now)

    async def _report(self, counts: RequestCounts, now: float) -> None:
        self._forget_ended_refusals(now)
        reported = {key: self._counters[key.scope].pop(key) for key in self._due(now)}
        if not reported and not self._open:
            return
        for key in reported:
            self._full.pop(key, None)
        try:
            # With none of them this asks whether Redis is there
            async with asyncio.timeout(TIMEOUT_S):
                over = await counts.add({key: counter.hits for key, counter in reported.items()})
        except BaseException:
            self._put_back(reported)
            raise
        now = time.monotonic()
        self._refused_until |= {key: now + min(left_s, self._window_s) for key, left_s in over.items()}

    def _due(self, now: float) -> list[RateKey]:
        """Which counters are to be reported now."""
        due = dict.fromkeys(islice(self._full, TOGETHER))
        for key in islice(self._old(now), TOGETHER - len(due)):
            due[key] = None
        return list(due)

    def _old(self, now: float) -> Iterator[RateKey]:
        """Those that are due, from the one that has been old enough for longest to the first that is not."""
        counters = heapq.merge(
            *(each.items() for each in self._counters.values()),
            key=lambda each: each[1].since + self._age_s(each[0].scope),
        )
        for key, counter in counters:
            if not self._is_due(key, counter, now):
                return
            yield key

    def _put_back(self, reported: dict[RateKey, Counter]) -> None:
        """Once more, and no oftener: Redis may have counted them before it was silent."""
        for key, counter in reported.items():
            if not counter.tried:
                left = self._counters[key.scope].setdefault(key, Counter(0, counter.since))
                left.hits, left.tried = left.hits + counter.hits, True

    def _forget_ended_refusals(self, now: float) -> None:
        self._refused_until = {key: until for key, until in self._refused_until.items() if until > now}

    def _is_due(self, key: RateKey, counter: Counter, now: float) -> bool:
        return self._is_full(key, counter) or now - counter.since >= self._age_s(key.scope)

    def _is_full(self, key: RateKey, counter: Counter) -> bool:
        return counter.hits >= SHARE * self._items[key.scope].amount

    def _age_s(self, scope: str) -> float:
        """At which a counter is reported."""
        return AGE[scope] * self._window_s


def _amounts(settings: RateLimitSettings) -> dict[str, int]:
    """The limit of each scope; 0 is without one.

    A lineage has one only if tokens and services have: those who redeem the same guest code share theirs, so
    it is not that of a token, and keeps one user from taking what all of a service share.
    """
    token, service = settings.per_token, settings.per_service
    lineage = max(token, int(LINEAGE_SHARE * service)) if token and service else 0
    return {"token": token, "lineage": lineage, "service": service}
