"""Requests are counted over all replicas in Redis, or by each for itself while it is away."""

from __future__ import annotations

import asyncio
import time
from typing import cast

import pytest
from limits import RateLimitItem, WindowStats
from limits.aio.strategies import FixedWindowRateLimiter
from tests.support.waiting import until

from onair_api.auth import rate_limits
from onair_api.auth.rate_limits import RateLimits
from onair_api.errors import ResourceExhausted
from onair_api.settings import RateLimitSettings, RedisSettings

PER_TOKEN, WINDOW_S = 10, 3600


class ScriptedLimiter:
    """What Redis would count, while it is there."""

    def __init__(self) -> None:
        self.there = False
        self.counted: dict[str, int] = {}
        self.asked = 0

    async def hit(self, item: RateLimitItem, identifier: str, cost: int) -> bool:
        self._check()
        self.counted[identifier] = self.counted.get(identifier, 0) + cost
        return self.counted[identifier] <= item.amount

    async def get_window_stats(self, *_: object) -> WindowStats:
        self._check()
        return WindowStats(time.time() + WINDOW_S, 0)

    def _check(self) -> None:
        self.asked += 1
        if not self.there:
            raise OSError("unreachable")


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


async def test_a_redis_that_comes_and_goes_resets_no_count(limits: RateLimits) -> None:
    limiter = ScriptedLimiter()
    running = asyncio.create_task(limits._report_forever(cast(FixedWindowRateLimiter, limiter)))
    assert accepted(limits, 4) == 4
    limiter.there = True
    await until(lambda: limiter.counted == {"anna": 4}, "what was counted without it is reported")
    limiter.there = False
    assert accepted(limits, 4) == 4
    asked = limiter.asked
    await until(lambda: limiter.asked > asked + 3)
    assert accepted(limits, 3 * PER_TOKEN) == PER_TOKEN - 4, "what Redis was not told counts here"
    limiter.there = True
    await until(lambda: limiter.counted["anna"] == 4 + PER_TOKEN)
    await asyncio.sleep(0.01)
    assert accepted(limits, 4) == 0, "too many for all replicas"
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
