"""Closed sessions in a replica's memory, while Redis is unreachable."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
from tests.support.settable_clock import SettableClock

from onair_api.event.replay import session_store
from onair_api.event.replay.closed_session_position import ClosedSession
from onair_api.event.replay.session_store import SessionStore

KEEP_S = 60


class WorkingRedis:
    """Takes everything."""

    async def set(self, *_: Any, **__: Any) -> bool:
        return True

    async def getdel(self, _: str) -> None:
        return None


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
    redis: Any = WorkingRedis()
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
