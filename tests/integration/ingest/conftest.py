"""An ingest pod as two processes, and a facade that answers as a test says."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.fixtures.ingest_installation import installation
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade

__all__ = ["installation"]


@pytest.fixture(scope="session")
def secret() -> bytes:
    return secrets.token_bytes(32)


@pytest.fixture(scope="session")
def scripted_facade(secret: bytes) -> Iterator[ScriptedFacade]:
    with ScriptedFacade(secret) as facade:
        yield facade


@pytest.fixture(scope="session")
def pod(
    tmp_path_factory: pytest.TempPathFactory, scripted_facade: ScriptedFacade, secret: bytes
) -> Iterator[IngestPod]:
    """One for all tests that leave it alive: they are kept apart by their keys."""
    with IngestPod(tmp_path_factory.mktemp("ingest"), scripted_facade.url, secret) as pod:
        yield pod
    logged = [key for key in scripted_facade.keys if key in pod.log]
    assert not logged, f"stream keys are in the logs: {logged}"


@pytest.fixture(scope="session")
def follower(pod: IngestPod) -> Iterator[Follower]:
    with pod.follow() as follower:
        yield follower


@pytest.fixture
def own_pod(tmp_path: Path, scripted_facade: ScriptedFacade, secret: bytes) -> Iterator[IngestPod]:
    """One for a test that breaks it."""
    with IngestPod(tmp_path, scripted_facade.url, secret) as pod:
        yield pod


@pytest.fixture
def key(scripted_facade: ScriptedFacade) -> str:
    """A stream key that the facade admits."""
    key = secrets.token_hex(16)
    scripted_facade.keys.add(key)
    return key
