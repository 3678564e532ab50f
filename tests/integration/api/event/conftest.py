"""A replica with a Redis of its own, which a test may break."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.facade import FacadeThread, StartFacade
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_for

from onair_api.settings import EventSettings, RedisSettings


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that this test may break."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    with contextlib.suppress(Exception):
        server.thaw()
    server.stop()


@pytest.fixture
def own(start_facade: StartFacade, redis: RedisServer) -> Iterator[FacadeThread]:
    events = EventSettings(drain_s=0.1, backlog_events=50, stalled_after_s=1.0)
    with start_facade(redis=RedisSettings(url=redis.url), events=events) as facade:
        wait_for(lambda: facade.bus.connected, "Redis is connected")
        yield facade
