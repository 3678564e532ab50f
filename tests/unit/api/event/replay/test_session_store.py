"""Closed sessions: in Redis, and in a replica's memory while Redis is unreachable."""

from __future__ import annotations

import asyncio
import weakref
from typing import Any

import pytest
from tests.support.settable_clock import SettableClock
from tests.support.shared_sessions import SharedSessions
from tests.support.waiting import until

from onair_api.event.event import Position
from onair_api.event.replay import session_store
from onair_api.event.replay.closed_session_position import ClosedSession
from onair_api.event.replay.redis_sessions import TOGETHER
from onair_api.event.replay.session_store import SessionStore

KEEP_S = 60


class ReferredSession(ClosedSession):
    """One that a weak reference may be to."""


def closed() -> ReferredSession:
    return ReferredSession({}, [], 0.0)


async def test_a_session_is_taken_once_and_by_its_user() -> None:
    store = SessionStore(None, lambda: False, KEEP_S)
    session = closed()
    await store.keep("anna", "s1", session)
    assert await store.take("ben", "s1") is None
    assert await store.take("anna", "s1") is session
    assert await store.take("anna", "s1") is None


async def test_a_session_is_kept_for_its_time_and_not_held_longer_once_redis_is_back() -> None:
    clock, reachable = SettableClock(100.0), False
    redis: Any = SharedSessions(clock)
    store = SessionStore(redis, lambda: reachable, KEEP_S, clock)
    forgotten = closed()
    held = weakref.ref(forgotten)
    for session_id, session in (("s1", closed()), ("s2", forgotten)):
        await store.keep("anna", session_id, session)
    del session, forgotten
    clock.now += KEEP_S - 1
    assert await store.take("anna", "s1") is not None
    clock.now += 1
    reachable = True
    await store.keep("anna", "s3", closed())
    assert held() is None
    assert await store.take("anna", "s2") is None


async def test_no_more_sessions_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_store, "MAX_LOCAL", 2)
    store = SessionStore(None, lambda: False, KEEP_S)
    for session_id in ("s1", "s2", "s3"):
        await store.keep("anna", session_id, closed())
    assert [await store.take("anna", each) is not None for each in ("s1", "s2", "s3")] == [False, True, True]


def at(number: int) -> ClosedSession:
    """A session that got so far."""
    return ClosedSession({"Layout": Position(number)}, [], 0.0)


async def test_a_wave_of_closes_and_returns_is_stored_and_fetched_in_few_round_trips() -> None:
    redis: Any = SharedSessions()
    one, other = (SessionStore(redis, lambda: True, KEEP_S) for _ in range(2))
    many = 20 * TOGETHER
    await asyncio.gather(*(one.keep("anna", str(number), at(number)) for number in range(many)))
    assert len(redis.keys) == many
    back = await asyncio.gather(*(other.take("anna", str(number)) for number in range(many)))
    assert [each and each.positions["Layout"].number for each in back] == list(range(many))
    assert redis.most_at_once == 1, "a wave has one connection of each replica"
    assert redis.round_trips <= 2 * (many / TOGETHER + 1)


async def test_what_was_not_stored_as_it_closed_is_stored_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_store, "RETRY_S", 0.001)
    redis: Any = SharedSessions()
    store = SessionStore(redis, lambda: True, KEEP_S)
    redis.fails = True
    many = range(3 * TOGETHER)
    await asyncio.gather(*(store.keep("anna", str(number), at(number)) for number in many))
    running = asyncio.create_task(store.run())
    tries = redis.round_trips
    await until(lambda: redis.round_trips > tries + 2)
    redis.fails = False
    await until(lambda: len(redis.keys) == len(many))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    other = SessionStore(redis, lambda: True, KEEP_S)
    assert await other.take("anna", "7") == at(7)


async def test_a_close_does_not_wait_long_for_a_redis_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_store, "WAIT_S", 0.01)
    redis: Any = SharedSessions()
    redis.responds.clear()
    store = SessionStore(redis, lambda: True, KEEP_S)
    await asyncio.gather(*(store.keep("anna", str(number), at(number)) for number in range(3 * TOGETHER)))
    assert await store.take("anna", "7") == at(7), "it is in this replica's memory"


async def test_a_session_that_comes_back_as_it_waits_to_be_stored_is_not_stored() -> None:
    redis: Any = SharedSessions()
    store = SessionStore(redis, lambda: True, KEEP_S)
    redis.responds.clear()
    first = asyncio.create_task(store.keep("anna", "first", at(1)))
    await until(lambda: redis.now == 1)
    rest = [
        asyncio.create_task(each) for each in (store.keep("anna", "s", at(1)), store.keep("anna", "s", at(2)))
    ]
    back = asyncio.create_task(store.take("anna", "s"))
    redis.responds.set()
    assert await back == at(2)
    await asyncio.gather(first, *rest)
    assert redis.keys == ["onair:session:anna:first"]


@pytest.mark.parametrize("connected", [True, False])
async def test_one_that_could_not_be_fetched_has_lost_events(connected: bool) -> None:
    redis: Any = SharedSessions()
    store = SessionStore(redis, lambda: connected, KEEP_S)
    redis.fails = True
    found = await store.take("anna", "s")
    assert found
    assert found.lost
    redis.fails = False
    assert await SessionStore(redis, lambda: True, KEEP_S).take("anna", "s") is None, "nobody has closed it"
