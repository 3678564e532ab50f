"""Requests that replicas count together in a real Redis."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
from limits import RateLimitItemPerSecond
from redis.asyncio import Redis
from tests.support.waiting import until

from onair_api.auth.request_counts import PREFIX, RateKey, RequestCounts
from onair_api.redis_connections import redis_client
from onair_api.settings import RedisSettings

LIMIT, WINDOW_S, LONG_S = 10, 1, 3600
SCOPE = "token"


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with redis_client(RedisSettings(url=redis_url), 1.0) as client:
        yield client


def item(window_s: int) -> RateLimitItemPerSecond:
    """The limit of this test alone."""
    return RateLimitItemPerSecond(LIMIT, window_s, namespace=f"test/{time.monotonic_ns()}")


def tokens(hits: dict[str, int]) -> dict[RateKey, int]:
    return {RateKey(SCOPE, token): more for token, more in hits.items()}


async def test_those_over_their_limit_are_told_with_the_end_of_their_window(redis: Redis) -> None:
    each = item(LONG_S)
    one, other = (RequestCounts(redis, {SCOPE: each}, LONG_S) for _ in range(2))
    assert await one.add(tokens({"anna": LIMIT, "ben": LIMIT - 1})) == {}
    over = await other.add(tokens({"zoe": LIMIT, "anna": 1, "ben": 1}))
    assert list(over) == [RateKey(SCOPE, "anna")]
    assert LONG_S - 60 < over[RateKey(SCOPE, "anna")] <= LONG_S
    assert await one.add({}) == {}, "Redis is there"


async def test_a_count_ends_with_its_window_however_often_it_is_added_to(redis: Redis) -> None:
    counts = RequestCounts(redis, {SCOPE: item(WINDOW_S)}, WINDOW_S)
    assert await counts.add(tokens({"anna": LIMIT + 1}))

    async def begins_again() -> bool:
        return not await counts.add(tokens({"anna": 1}))

    await until(begins_again, "the window ends")


async def test_a_count_that_would_never_end_is_given_an_end(redis: Redis) -> None:
    each = item(LONG_S)
    await redis.set(PREFIX + each.key_for("anna"), 2 * LIMIT)
    over = await RequestCounts(redis, {SCOPE: each}, LONG_S).add(tokens({"anna": 1}))
    assert over == {RateKey(SCOPE, "anna"): LONG_S}


async def test_thousands_are_counted_in_one_call(redis: Redis) -> None:
    counts = RequestCounts(redis, {SCOPE: item(LONG_S)}, LONG_S)
    many = {str(number): 1 + (number % 2) * LIMIT for number in range(4000)}
    over = await counts.add(tokens(many))
    assert [key.id for key in over] == [token for token, more in many.items() if more > LIMIT]
