"""Two installations with one Redis: the same user has an account in both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from redis import Redis
from tests.support.event_client import SignIn, WebSocket, events_of, publishes
from tests.support.facade import FacadeThread, StartFacade
from tests.support.fixtures.facade import STREAMS, redis_connected
from tests.support.layouts import layout
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_for

from onair_api.live.room.kept_values import KeptValues
from onair_api.settings import RateLimitSettings, RedisSettings

PREFIX = "another"
ANIMATION = [{"properties": ["x"], "durationMs": 300}]


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that only this test uses."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def installations(start_facade: StartFacade, redis: RedisServer) -> Iterator[list[FacadeThread]]:
    """A replica of each; each has a database of its own."""
    urls = redis.url, redis.url.replace("/0", "/1")
    with ExitStack() as stack:
        facades = [
            stack.enter_context(
                start_facade(
                    redis=RedisSettings(url=url, key_prefix=prefix),
                    events=STREAMS,
                    rate_limits=RateLimitSettings(),
                )
            )
            for url, prefix in zip(urls, ("onair", PREFIX), strict=True)
        ]
        for facade in facades:
            wait_for(partial(redis_connected, facade), "Redis is connected")
            wait_for(partial(counts_with_redis, facade), "requests are counted")
        yield facades


def counts_with_redis(facade: FacadeThread) -> bool:
    return not facade.services.callers.rate_limits._open


def test_what_is_published_in_one_stays_there(installations: list[FacadeThread], sign_in: SignIn) -> None:
    users = [sign_in("anna-of-two", facade=each) for each in installations]
    one, other = (WebSocket(each.facade, each.token) for each in users)
    with one, other:
        for each in (one, other):
            each.subscribe()
        for number, user in enumerate(users):
            assert publishes(user, f"e{number}")
        for number, each in enumerate((one, other)):
            assert [result["event"]["name"] for result in events_of(each, 1)] == [f"e{number}"]
            each.assert_silent()


def test_all_that_is_in_redis_has_its_prefix(
    installations: list[FacadeThread], sign_in: SignIn, redis: RedisServer
) -> None:
    facade = installations[1]
    host = sign_in(facade=facade)
    canvas = layout(host.project())
    layer_id = canvas.add(x=0)["id"]
    with WebSocket(facade, host.token) as stream, Redis.from_url(redis.url, decode_responses=True) as client:
        stream.subscribe()
        assert publishes(host)
        assert [each for each in client.pubsub_channels() if not each.startswith(f"{PREFIX}:events:")] == []
        assert client.pubsub_channels()
    canvas.patch(layer_id, x=1, requestAnimation=ANIMATION)
    asyncio.run(keep_a_value(facade.settings.redis))
    names = {f"{PREFIX}:{name}" for name in ("events", "session", "batch", "room")} | {f"LIMITS:{PREFIX}"}
    url = redis.url.replace("/0", "/1")
    with Redis.from_url(url, decode_responses=True) as client:

        def found() -> set[str]:
            keys = client.keys()
            return {key.split("/")[0] if "/" in key else ":".join(key.split(":")[:2]) for key in keys}

        wait_for(lambda: names <= found(), "everything is there", state=found)
        assert found() == names


async def keep_a_value(redis: RedisSettings) -> None:
    values = KeptValues(redis)
    await values.put("key", "value", 60)
    await values.close()
