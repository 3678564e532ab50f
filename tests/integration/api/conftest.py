"""One facade for the whole run; tests are kept apart by users, whom ownership separates."""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.control_plane import ControlPlane
from tests.support.facade import Cluster, Facade, User, wait_for
from tests.support.installation import grant, new_cluster
from tests.support.redis_server import RedisServer

from onair_api import logs
from onair_api.settings import EventSettings, RedisSettings

SERVICE = "studio"


class Recorded(io.StringIO):
    """Everything that the facade logs in this run."""


@pytest.fixture(scope="session")
def recorded_logs() -> Recorded:
    recorded = Recorded()
    logs.configure("DEBUG", recorded)
    return recorded


@pytest.fixture(scope="session")
def cluster(admin: httpx.Client, crds: None) -> Cluster:
    return new_cluster(admin)


@pytest.fixture(scope="session")
def api_key(cluster: Cluster) -> str:
    return cluster.add_api_key(SERVICE)


@pytest.fixture(scope="session")
def rights(control_plane: ControlPlane, cluster: Cluster) -> Path:
    return grant(control_plane, cluster)


@pytest.fixture(scope="session")
def facade(rights: Path, cluster: Cluster, api_key: str, recorded_logs: Recorded) -> Iterator[Facade]:
    with Facade(rights, cluster.shows, cluster.release) as facade:
        yield facade


@pytest.fixture(scope="session")
def second_facade(
    rights: Path, cluster: Cluster, facade: Facade, recorded_logs: Recorded
) -> Iterator[Facade]:
    """Another replica over the same cluster."""
    with Facade(rights, cluster.shows, cluster.release) as second:
        yield second


@pytest.fixture(scope="session")
def sign_in(facade: Facade, api_key: str) -> Callable[..., User]:
    """Makes users: `sign_in()`, `sign_in("anna", role="ROLE_VIEWER")`, `sign_in(facade=other)`."""

    def make(name: str | None = None, *, facade: Facade = facade, key: str = api_key, **body: Any) -> User:
        body["serviceUserId"] = name or f"user-{secrets.token_hex(4)}"
        path = "/live/v2/authentication/token"
        headers = {"X-API-Key": key}
        answer = wait_for(
            lambda: (a := facade.http.post(path, headers=headers, json=body)).status_code != 401 and a,
            "the API key is known",
        )
        assert answer.status_code == 200, answer.text
        return User(facade, answer.json()["accessToken"])

    return make


@pytest.fixture
def anna(sign_in: Callable[..., User]) -> User:
    """A host with nothing of her own yet."""
    return sign_in()


STREAMS = EventSettings(drain_s=0.2)


@pytest.fixture(scope="session")
def replicas(
    rights: Path, cluster: Cluster, api_key: str, recorded_logs: Recorded, redis_server: RedisServer
) -> Iterator[tuple[Facade, Facade]]:
    """Two replicas of the facade over one cluster and one Redis."""
    redis = RedisSettings(url=redis_server.url)
    with (
        Facade(rights, cluster.shows, cluster.release, redis=redis, events=STREAMS) as one,
        Facade(rights, cluster.shows, cluster.release, redis=redis, events=STREAMS) as two,
    ):
        for each in (one, two):
            wait_for(lambda each=each: redis_connected(each), "Redis is connected")
        yield one, two


def redis_connected(facade: Facade) -> bool:
    bus = facade.services.events.bus
    return bool(bus and bus.connected)


@pytest.fixture(scope="session")
def one(replicas: tuple[Facade, Facade]) -> Facade:
    return replicas[0]


@pytest.fixture(scope="session")
def two(replicas: tuple[Facade, Facade]) -> Facade:
    return replicas[1]


@pytest.fixture
def host(sign_in: Callable[..., User], one: Facade) -> User:
    """A host of her own, who calls the first replica."""
    return sign_in(facade=one)
