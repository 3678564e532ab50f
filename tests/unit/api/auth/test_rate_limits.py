"""Requests are counted over all replicas in Redis, or by each for itself while it is unreachable."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from limits import RateLimitItem, WindowStats
from limits.aio.strategies import FixedWindowRateLimiter
from tests.support.waiting import until

from onair_api.auth import rate_limits
from onair_api.auth.rate_limits import Counter, RateKey, RateLimits
from onair_api.errors import ResourceExhausted
from onair_api.settings import RateLimitSettings, RedisSettings

PER_TOKEN, WINDOW_S = 10, 3600


class ScriptedLimiter:
    """What Redis would count, while it is reachable."""

    def __init__(self) -> None:
        self.reachable, self.responds = False, True
        self.counted: dict[str, int] = {}
        self.asked = 0

    async def hit(self, item: RateLimitItem, identifier: str, cost: int) -> bool:
        self._check()
        self.counted[identifier] = self.counted.get(identifier, 0) + cost
        if not self.responds:
            raise TimeoutError
        return self.counted[identifier] <= item.amount

    async def get_window_stats(self, *_: object) -> WindowStats:
        self._check()
        return WindowStats(time.time() + WINDOW_S, 0)

    def _check(self) -> None:
        self.asked += 1
        if not self.reachable:
            raise OSError("unreachable")


@asynccontextmanager
async def reporting(limits: RateLimits) -> AsyncIterator[ScriptedLimiter]:
    limiter = ScriptedLimiter()
    running = asyncio.create_task(limits._report_forever(cast(FixedWindowRateLimiter, limiter)))
    try:
        yield limiter
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> RateLimits:
    monkeypatch.setattr(rate_limits, "OPEN_S", 0.001)
    monkeypatch.setattr(rate_limits, "TICK_S", 0.001)
    settings = RateLimitSettings(window_s=WINDOW_S, per_token=PER_TOKEN, per_service=0)
    return RateLimits(settings, RedisSettings.model_validate({"url": "redis://127.0.0.1:1/0"}))


def accepted(limits: RateLimits, tries: int) -> int:
    """How many of these requests are."""
    count = 0
    for _ in range(tries):
        try:
            limits.count("anna", "studio")
        except ResourceExhausted:
            continue
        count += 1
    return count


def test_before_redis_was_reached_a_replica_limits_by_what_it_has_counted(limits: RateLimits) -> None:
    assert accepted(limits, 3 * PER_TOKEN) == PER_TOKEN
    limits.count("ben", "studio")


async def test_what_redis_was_not_told_is_counted_here_and_told_once_it_is_back(limits: RateLimits) -> None:
    async with reporting(limits) as limiter:
        assert accepted(limits, 4) == 4
        limiter.reachable = True
        await until(lambda: limiter.counted == {"anna": 4}, "what was counted without it is reported")
        limiter.reachable = False
        assert accepted(limits, 3) == 3
        asked = limiter.asked
        await until(lambda: limiter.asked > asked + 3)
        assert accepted(limits, 2) == 2
        limiter.reachable = True
        await until(lambda: limiter.counted == {"anna": 9})
        assert accepted(limits, 2) == 2
        await until(lambda: accepted(limits, 1) == 0, "it is refused by what all replicas counted")
        assert limiter.counted["anna"] > PER_TOKEN


async def test_a_redis_that_counts_and_is_silent_then_counts_a_request_twice_at_most(
    limits: RateLimits,
) -> None:
    async with reporting(limits) as limiter:
        limiter.reachable, limiter.responds = True, False
        await until(lambda: limiter.asked > 0)
        assert accepted(limits, 2) == 2
        await until(lambda: limiter.counted == {"anna": 4})
        assert accepted(limits, 1) == 1
        await until(lambda: limiter.counted["anna"] >= 6, "it is asked again, with what came since")
        await asyncio.sleep(0.01)
    assert limiter.counted == {"anna": 6}, "twice 2 and twice 1"


@pytest.mark.parametrize(
    ("per_token", "per_service", "per_lineage"),
    [(3000, 30_000, 7500), (3000, 6000, 3000), (0, 30_000, None), (3000, 0, None), (0, 0, None)],
)
def test_a_lineage_has_a_share_of_its_service_and_no_less_than_a_token(
    per_token: int, per_service: int, per_lineage: int | None
) -> None:
    settings = RateLimitSettings(per_token=per_token, per_service=per_service)
    items = RateLimits(settings, RedisSettings.model_validate({"url": "redis://127.0.0.1:1/0"}))._items
    item = items.get("lineage")
    assert (item.amount if item else None) == per_lineage


def test_a_lineage_that_is_seldom_used_is_reported_once_a_window() -> None:
    settings = RateLimitSettings(window_s=WINDOW_S, per_token=100, per_service=1000)
    limits = RateLimits(settings, RedisSettings.model_validate({"url": "redis://127.0.0.1:1/0"}))
    # Hits, and how much of a window is over
    cases = [(1, 0.05), (1, 0.1), (1, 1.0), (100, 0.0)]
    due = {
        scope: [limits._is_due(RateKey(scope, "id"), Counter(hits, 0.0), at * WINDOW_S) for hits, at in cases]
        for scope in ("token", "lineage", "service")
    }
    assert due["token"] == [False, True, True, True]
    assert due["service"] == [False, True, True, True]
    assert due["lineage"] == [False, False, True, True]
