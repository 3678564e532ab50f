"""A room server, and facades that pass signalling on to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.facade import FacadeThread, StartFacade, StoredResources
from tests.support.fixtures.doors import door, pytest_generate_tests
from tests.support.redis_server import RedisServer
from tests.support.rooms.hosted_rooms import add_credentials, room_server, settings_for

from onair_api.settings import RedisSettings

__all__ = ["door", "pytest_generate_tests", "server", "studio", "studios"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKitServer]:
    folder: Path = tmp_path_factory.mktemp("livekit")
    with room_server(folder) as server:
        yield server


@pytest.fixture(scope="module")
def studios(
    start_facade: StartFacade, resources: StoredResources, server: LiveKitServer, redis_server: RedisServer
) -> Iterator[tuple[FacadeThread, FacadeThread]]:
    """Two replicas."""
    add_credentials(resources)
    settings = {"rooms": settings_for(server), "redis": RedisSettings(url=redis_server.url)}
    with start_facade(**settings) as one, start_facade(**settings) as two:
        yield one, two


@pytest.fixture(scope="module")
def studio(studios: tuple[FacadeThread, FacadeThread]) -> FacadeThread:
    return studios[0]
