"""Closed sessions: in Redis, and in a replica's memory while Redis is unreachable."""

from __future__ import annotations

import asyncio
import weakref
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest
from tests.support.settable_clock import SettableClock
from tests.support.shared_sessions import SharedSessions
from tests.support.waiting import until

from onair_api.event.event import Position
from onair_api.event.replay import session_store
from onair_api.event.replay.closed_session_position import ClosedSession
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.replay.redis_sessions import TOGETHER, SessionText
from onair_api.event.replay.session_store import SessionStore
from onair_api.redis_keys import DEFAULT_KEYS

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


def got_to(session: ClosedSession | None) -> int | None:
    """How far a session got; None: there is none."""
    return session.positions["Layout"].number if session else None


async def test_a_wave_of_closes_and_returns_is_stored_and_fetched_in_few_round_trips() -> None:
    redis: Any = SharedSessions()
    one, other = (SessionStore(redis, lambda: True, KEEP_S) for _ in range(2))
    many = 20 * TOGETHER
    await asyncio.gather(*(one.keep("anna", str(number), at(number)) for number in range(many)))
    assert len(redis.keys) == many
    back = await asyncio.gather(*(other.take("anna", str(number)) for number in range(many)))
    assert [got_to(each) for each in back] == list(range(many))
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
    assert got_to(await other.take("anna", "7")) == 7


async def test_a_close_does_not_wait_long_for_a_redis_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_store, "WAIT_S", 0.01)
    redis: Any = SharedSessions()
    redis.responds.clear()
    store = SessionStore(redis, lambda: True, KEEP_S)
    await asyncio.gather(*(store.keep("anna", str(number), at(number)) for number in range(3 * TOGETHER)))
    assert got_to(await store.take("anna", "7")) == 7, "it is in this replica's memory"


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
    assert got_to(await back) == 2
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


class TwoReplicas:
    """Two stores with one Redis; to each that is reachable or not. What it is told of time, both are."""

    def __init__(self) -> None:
        self.clock = SettableClock(100.0)
        self.shared = SharedSessions(self.clock)
        self.reaches = [True, True]
        self.stores = [
            SessionStore(
                cast(Any, self.shared), partial(self.reaches.__getitem__, number), KEEP_S, self.clock
            )
            for number in range(2)
        ]

    async def close(self, replica: int, number: int, *, reaches: bool = True) -> None:
        """The session closes on a replica, having got so far, a second after what was before."""
        self.clock.now += 1
        self.reaches[replica] = reaches
        await self.stores[replica].keep("anna", "s", at(number))
        self.reaches[replica] = True

    async def back(self, replica: int) -> int | None:
        """How far the session got that comes back to a replica; None: there is none."""
        self.clock.now += 1
        return got_to(await self.stores[replica].take("anna", "s"))


async def test_of_two_copies_of_a_session_the_one_that_closed_later_is_given_and_neither_is_left() -> None:
    replicas = TwoReplicas()
    await replicas.close(0, 100, reaches=False)
    assert await replicas.back(1) is None
    await replicas.close(1, 250)
    assert await replicas.back(0) == 250
    assert [await replicas.back(number) for number in range(2)] == [None, None]
    await replicas.close(1, 300)
    await replicas.close(0, 350, reaches=False)
    assert await replicas.back(0) == 350
    assert [await replicas.back(number) for number in range(2)] == [None, None]


async def test_a_session_that_is_stored_late_replaces_none_that_closed_later() -> None:
    replicas = TwoReplicas()
    await replicas.close(0, 100, reaches=False)
    await replicas.close(1, 250)
    await replicas.stores[0]._store_rest()
    assert await replicas.back(1) == 250
    assert await replicas.back(0) is None, "the older copy is gone too"
    await replicas.close(0, 300, reaches=False)
    await replicas.stores[0]._store_rest()
    assert await replicas.back(1) == 300


async def test_a_later_close_on_the_same_replica_replaces_its_copy() -> None:
    replicas = TwoReplicas()
    await replicas.close(0, 100, reaches=False)
    await replicas.close(0, 200)
    assert await replicas.back(1) == 200
    assert await replicas.back(0) is None


class ReplicasApart:
    """Two replicas whose clocks say something else, with one Redis, which has its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, keep_s: float = KEEP_S) -> None:
        self.wall = SettableClock(1_000_000.0)
        monkeypatch.setattr(session_store, "time", SimpleNamespace(time=self.wall))
        self.shared = SharedSessions(SettableClock(7.0))
        self.clocks = [SettableClock(100.0), SettableClock(5000.0)]
        keeps = keep_s, KEEP_S
        self.one, self.other = (
            SessionStore(cast(Any, self.shared), lambda: True, keep, clock)
            for keep, clock in zip(keeps, self.clocks, strict=True)
        )

    def passes(self, seconds: float) -> None:
        for clock in (self.wall, self.shared.clock, *self.clocks):
            clock.now += seconds

    async def close(self, ahead_s: float = 0.0, behind_s: float = 0.0) -> None:
        """A session closes on the first one.

        Args:
            ahead_s: how far its clock is ahead.
            behind_s: for how long its watches had been silent.
        """
        self.wall.now += ahead_s
        session = ClosedSession({"Layout": Position(10)}, [], self.clocks[0].now - behind_s)
        await self.one.keep("anna", "s", session)
        self.wall.now -= ahead_s


@pytest.mark.parametrize("ahead_s", [0.0, 5.0, 90_000.0])
@pytest.mark.parametrize("behind_s", [0.0, 2.0])
@pytest.mark.parametrize("keep_s", [KEEP_S, 2 * KEEP_S])
async def test_how_long_ago_a_session_closed_is_known_whatever_the_clocks_of_replicas_say(
    monkeypatch: pytest.MonkeyPatch, ahead_s: float, behind_s: float, keep_s: float
) -> None:
    replicas = ReplicasApart(monkeypatch, keep_s)
    closed_at = replicas.clocks[1].now
    await replicas.close(ahead_s, behind_s)
    replicas.passes(3.0)
    buffer = ReplayBuffer(60, 10, 1000)
    buffer.start("Layout", Position(12), replicas.clocks[1].now)
    replicas.passes(4.0)
    found = await replicas.other.take("anna", "s")
    assert found
    assert found.at == pytest.approx(closed_at - behind_s)
    assert not buffer.covers("Layout", Position(10), found.at), "it began after a change"


async def test_a_session_that_came_late_to_redis_is_no_younger_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replicas = ReplicasApart(monkeypatch)
    closed_at = replicas.clocks[1].now
    replicas.shared.responds.clear()
    closing = asyncio.create_task(replicas.close())
    await until(lambda: replicas.shared.now == 1)
    replicas.passes(5.0)
    replicas.shared.responds.set()
    await closing
    found = await replicas.other.take("anna", "s")
    assert found
    assert found.at == pytest.approx(closed_at)


async def test_replicas_of_an_earlier_version_read_what_is_stored_and_what_they_store_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They know when a session closed by the clock of the replica that it closed on."""
    replicas = ReplicasApart(monkeypatch)
    closed_at, wall_at = replicas.clocks[1].now, replicas.wall.now
    await replicas.close(behind_s=2.0)
    key = DEFAULT_KEYS.session("anna", "s")
    text, left_ms = replicas.shared.exchange(key, b"", 0)
    value = orjson.loads(cast(bytes, text))
    assert value["at"] == wall_at - 2.0
    assert value["positions"] == {"Layout": [10, 0]}
    earlier = {field: value[field] for field in ("positions", "at", "lost", "subscriptions")}
    replicas.shared.exchange(key, *SessionText(orjson.dumps(earlier), left_ms))
    replicas.passes(3.0)
    found = await replicas.other.take("anna", "s")
    assert found
    assert found.at == pytest.approx(closed_at - 2.0)
