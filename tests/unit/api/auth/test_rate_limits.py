"""Requests are counted over all replicas in Redis, or by each for itself while it is unreachable."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

import pytest
from tests.support.waiting import until

from onair_api.auth import rate_limits
from onair_api.auth.rate_limits import AGE, Counter, RateLimits
from onair_api.auth.request_counts import RateKey, RequestCounts
from onair_api.errors import ResourceExhausted
from onair_api.settings import RateLimitSettings, RedisSettings

PER_TOKEN, WINDOW_S = 10, 3600


class ScriptedCounts:
    """What Redis would count, while it is reachable."""

    def __init__(self) -> None:
        self.reachable, self.responds = False, True
        self.counted: dict[str, int] = {}
        self.asked = 0
        self.together: list[list[RateKey]] = []

    async def add(self, hits: Mapping[RateKey, int]) -> dict[RateKey, float]:
        self.asked += 1
        if not self.reachable:
            raise OSError("unreachable")
        for key, more in hits.items():
            self.counted[key.id] = self.counted.get(key.id, 0) + more
        if hits:
            self.together.append(list(hits))
            if not self.responds:
                raise TimeoutError
        return {key: WINDOW_S for key in hits if self.counted[key.id] > PER_TOKEN}


@asynccontextmanager
async def reporting(limits: RateLimits) -> AsyncIterator[ScriptedCounts]:
    counts = ScriptedCounts()
    running = asyncio.create_task(limits._report_forever(cast(RequestCounts, counts)))
    try:
        yield counts
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


def with_seldom_tokens() -> RateLimits:
    """Those of tokens that are far below their limit."""
    settings = RateLimitSettings(window_s=WINDOW_S, per_token=1000, per_service=0)
    return RateLimits(settings, RedisSettings.model_validate({"url": "redis://127.0.0.1:1/0"}))


async def report(limits: RateLimits, counts: ScriptedCounts, now: float) -> None:
    await limits._report(cast(RequestCounts, counts), now)


async def test_many_counters_are_reported_together_those_that_are_due_for_longest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rate_limits, "TOGETHER", 3)
    limits, counts = with_seldom_tokens(), ScriptedCounts()
    counts.reachable = True
    limits._count_with_redis(time.monotonic())
    for number in range(7):
        limits.count(str(number), "studio")
    for _ in range(20):
        limits.count("busy", "studio")
    now = time.monotonic()
    for _ in range(2):
        await report(limits, counts, now)
    assert counts.together == [[RateKey("token", "busy")]], "the others are not due yet"
    for _ in range(4):
        await report(limits, counts, now + AGE["token"] * WINDOW_S)
    assert [[key.id for key in each] for each in counts.together[1:]] == [
        ["0", "1", "2"],
        ["3", "4", "5"],
        ["6"],
    ]


async def test_what_was_counted_without_redis_is_not_due_at_once_when_it_is_back() -> None:
    limits, counts = with_seldom_tokens(), ScriptedCounts()
    for number in range(1000):
        limits.count(str(number), "studio")
    counts.reachable = True
    now = time.monotonic() + WINDOW_S / 2
    limits._count_with_redis(now)
    age_s = AGE["token"] * WINDOW_S
    for part in range(1, 11):
        await report(limits, counts, now + part / 10 * age_s)
    assert len(counts.together) == 10
    assert all(50 < len(each) < 150 for each in counts.together), "about as many in each part of the time"
    assert counts.counted == {str(number): 1 for number in range(1000)}


async def test_a_report_that_redis_refuses_is_counted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "TOGETHER", 3)
    limits, counts = with_seldom_tokens(), ScriptedCounts()
    limits._count_with_redis(time.monotonic())
    for number in range(7):
        limits.count(str(number), "studio")
    with pytest.raises(OSError, match="unreachable") as refused:
        await report(limits, counts, time.monotonic() + WINDOW_S)
    limits._count_without_redis(refused.value)
    assert sorted(key.id for key in limits._alone) == [str(number) for number in range(7)]
    assert [counter.hits for counter in limits._alone.values()] == [1] * 7
