"""Fixtures that run the facade in a separate process, with a real API server and a real Redis."""

from __future__ import annotations

import functools
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.facade import StoredResources
from tests.support.fixtures.facade import api_key, recorded_logs, resources, rights
from tests.support.redis_server import RedisServer
from tests.support.replica import MeasuredProcess, ReplicaProcess

__all__ = ["api_key", "recorded_logs", "resources", "rights"]


@pytest.fixture
def programs() -> Iterator[list[MeasuredProcess]]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    started: list[MeasuredProcess] = []
    yield started
    for each in started:
        each.end()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def start_replica(
    tmp_path: Path,
    programs: list[MeasuredProcess],
    rights: Path,
    resources: StoredResources,
    api_key: str,
    redis_server: RedisServer,
) -> Callable[..., ReplicaProcess]:
    return functools.partial(ReplicaProcess, tmp_path, programs, rights, resources, api_key, redis_server.url)


@pytest.fixture
def replica(start_replica: Callable[..., ReplicaProcess]) -> ReplicaProcess:
    """Without limits, as all load comes with one token."""
    return start_replica()


@pytest.fixture
def limited_replica(start_replica: Callable[..., ReplicaProcess]) -> ReplicaProcess:
    """With the limits of an installation."""
    return start_replica(usual_limits=True)
