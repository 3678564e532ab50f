"""Closed sessions in a real Redis, of which each replica has its own connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from redis.asyncio import Redis
from tests.support.redis_server import RedisServer
from tests.support.settable_clock import SettableClock

from onair_api.event.event import Position
from onair_api.event.replay.closed_session_position import ClosedSession
from onair_api.event.replay.redis_sessions import RESPONSE_TIMEOUT_S
from onair_api.event.replay.session_store import SessionStore
from onair_api.redis_connections import redis_client
from onair_api.settings import RedisSettings

KEEP_S = 60
MANY = 2000


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that only this test uses."""
    made = RedisServer(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture
async def clients(server: RedisServer) -> AsyncIterator[list[Redis]]:
    """Those of two replicas."""
    async with AsyncExitStack() as stack:
        settings = RedisSettings(url=server.url)
        yield [await stack.enter_async_context(redis_client(settings, RESPONSE_TIMEOUT_S)) for _ in range(2)]


def at(number: int) -> ClosedSession:
    return ClosedSession({"Layout": Position(number)}, [], 0.0)


def got_to(session: ClosedSession | None) -> int | None:
    """How far a session got; None: there is none."""
    return session.positions["Layout"].number if session else None


async def test_a_wave_of_sessions_that_close_comes_back_elsewhere(clients: list[Redis]) -> None:
    one, other = (SessionStore(each, lambda: True, KEEP_S) for each in clients)
    await asyncio.gather(*(one.keep("anna", str(number), at(number)) for number in range(MANY)))
    assert await clients[0].dbsize() == MANY
    assert 0 < await clients[0].pttl("onair:session:anna:7") <= KEEP_S * 1000
    back = await asyncio.gather(*(other.take("anna", str(number)) for number in range(MANY)))
    assert [got_to(each) for each in back] == list(range(MANY))
    assert await clients[0].dbsize() == 0
    info = await clients[0].info("clients")
    assert info["connected_clients"] == len(clients), "however many they are"


async def test_one_that_closed_later_stays(clients: list[Redis]) -> None:
    clock, reaches = SettableClock(100.0), False
    one = SessionStore(clients[0], lambda: reaches, KEEP_S, clock)
    other = SessionStore(clients[1], lambda: True, KEEP_S)
    await one.keep("anna", "s", at(100))
    clock.now += 5
    await other.keep("anna", "s", at(250))
    reaches = True
    await one._store_rest()
    assert got_to(await one.take("anna", "s")) == 250
    assert await other.take("anna", "s") is None


async def test_a_redis_without_room_gives_what_it_has_and_is_told_the_rest_later(
    clients: list[Redis],
) -> None:
    one, other = (SessionStore(each, lambda: True, KEEP_S) for each in clients)
    await one.keep("anna", "before", at(1))
    await clients[0].config_set("maxmemory", 1)
    await one.keep("anna", "during", at(2))
    assert got_to(await other.take("anna", "before")) == 1
    assert await other.take("anna", "during") is None
    await clients[0].config_set("maxmemory", 0)
    await one._store_rest()
    assert got_to(await other.take("anna", "during")) == 2


async def test_a_redis_that_is_away_is_a_loss(server: RedisServer, clients: list[Redis]) -> None:
    store = SessionStore(clients[0], lambda: True, KEEP_S)
    assert await store.take("anna", "s") is None
    server.stop()
    found = await store.take("anna", "s")
    assert found
    assert found.lost
