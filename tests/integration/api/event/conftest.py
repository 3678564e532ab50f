"""Two replicas of the facade over one cluster and one Redis."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.api.facade import Cluster, Facade, User, wait_for
from tests.integration.conftest import RedisServer

from onair_api.settings import EventSettings, RedisSettings

SETTINGS = EventSettings(drain_s=0.2)


@pytest.fixture(scope="session")
def replicas(
    rights: Path, cluster: Cluster, api_key: str, recorded_logs: object, redis_server: RedisServer
) -> Iterator[tuple[Facade, Facade]]:
    redis = RedisSettings(url=redis_server.url)
    with (
        Facade(rights, cluster.shows, cluster.release, redis=redis, events=SETTINGS) as one,
        Facade(rights, cluster.shows, cluster.release, redis=redis, events=SETTINGS) as two,
    ):
        for each in (one, two):
            wait_for(lambda each=each: redis_connected(each), "Redis is connected")
        yield one, two


def redis_connected(facade: Facade) -> bool:
    bus = facade.services.events.bus
    return bool(bus and bus.connected)


@pytest.fixture
def one(replicas: tuple[Facade, Facade]) -> Facade:
    return replicas[0]


@pytest.fixture
def two(replicas: tuple[Facade, Facade]) -> Facade:
    return replicas[1]


@pytest.fixture
def host(sign_in: object, one: Facade) -> User:
    """A host of her own, who calls the first replica."""
    return sign_in(facade=one)  # type: ignore[operator,no-any-return]
