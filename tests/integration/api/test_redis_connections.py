"""A Redis with a password, one with TLS, one without a password yet: all of the facade that uses it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.certificate_authority import CertificateAuthority
from tests.support.event_client import SignIn, WebSocket, events_of, publishes
from tests.support.facade import FacadeThread, StoredResources
from tests.support.fixtures.facade import RecordedLogs
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_for

from onair_api.live.room.kept_values import KeptValues
from onair_api.settings import EventSettings, RateLimitSettings, RedisSettings

PASSWORD, ANOTHER = "a-password-of-tests", "another-password-of-tests"
Start = Callable[..., RedisServer]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a Redis."""
    started: list[RedisServer] = []

    def start_one(password: str, certificate: tuple[Path, Path, Path] | None = None) -> RedisServer:
        started.append(RedisServer(tmp_path, password, certificate))
        started[-1].start()
        return started[-1]

    yield start_one
    for each in started:
        each.stop()


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    """What the facade has mounted."""
    path = tmp_path / "password"
    path.write_text(PASSWORD)
    return path


def folder_in(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


@contextmanager
def facade_with(redis: RedisSettings, rights: Path, resources: StoredResources) -> Iterator[FacadeThread]:
    limits, events = RateLimitSettings(per_token=1000), EventSettings(drain_s=0.1)
    with FacadeThread(
        rights, resources.shows, resources.release, redis=redis, events=events, rate_limits=limits
    ) as facade:
        yield facade


async def reaches_another(redis: RedisSettings) -> bool:
    """Whether a value of rooms that one replica keeps is known to another."""
    one, other = KeptValues(redis), KeptValues(redis)
    try:
        await one.put("key", "value", 60)
        return await other.get("key") == "value"
    finally:
        await one.close()
        await other.close()


def assert_everything_works(facade: FacadeThread, sign_in: SignIn) -> None:
    wait_for(lambda: facade.bus.connected, "Redis is connected")
    host = sign_in(facade=facade)
    with WebSocket(facade, host.token) as stream:
        stream.subscribe()
        assert publishes(host, "published")
        assert events_of(stream, 1)[0]["event"]["name"] == "published"
    wait_for(lambda: not facade.services.callers.rate_limits._open, "requests are counted")
    assert asyncio.run(reaches_another(facade.settings.redis))


@pytest.mark.parametrize("password", [PASSWORD, ""], ids=["with a password", "that has none yet"])
def test_a_redis_is_used(
    password: str,
    start: Start,
    password_file: Path,
    rights: Path,
    resources: StoredResources,
    sign_in: SignIn,
) -> None:
    redis = RedisSettings(url=start(password).url, password_file=password_file)
    with facade_with(redis, rights, resources) as facade:
        assert_everything_works(facade, sign_in)


def test_a_redis_with_tls_is_verified_and_used(
    start: Start,
    password_file: Path,
    rights: Path,
    resources: StoredResources,
    sign_in: SignIn,
    tmp_path: Path,
) -> None:
    authority, other = (CertificateAuthority(folder_in(tmp_path, name)) for name in ("ours", "other"))
    server = start(PASSWORD, (*authority.issue("redis", "redis"), authority.certificate))
    trusting = RedisSettings(url=server.url, password_file=password_file, ca_file=authority.certificate)
    with facade_with(trusting, rights, resources) as facade:
        assert_everything_works(facade, sign_in)
    with facade_with(
        trusting.model_copy(update={"ca_file": other.certificate}), rights, resources
    ) as distrusting:
        assert not publishes(sign_in(facade=distrusting))
        assert not distrusting.bus.connected


def test_a_password_that_is_replaced_is_taken_from_its_file(
    start: Start,
    password_file: Path,
    rights: Path,
    resources: StoredResources,
    sign_in: SignIn,
    recorded_logs: RecordedLogs,
) -> None:
    server = start(PASSWORD)
    with facade_with(RedisSettings(url=server.url, password_file=password_file), rights, resources) as facade:
        assert_everything_works(facade, sign_in)
        server.stop()
        server.password = ANOTHER
        server.start()
        host = sign_in(facade=facade)
        assert not publishes(host), "the former password is refused"
        password_file.write_text(ANOTHER)
        wait_for(lambda: publishes(host), "the new one is taken")
        assert_everything_works(facade, sign_in)
    assert PASSWORD not in recorded_logs.getvalue()
    assert ANOTHER not in recorded_logs.getvalue()


def test_nobody_else_gets_anything(start: Start) -> None:
    port = int(start(PASSWORD).url.rsplit(":", 1)[1].split("/")[0])
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(b"KEYS *\r\n")
        assert stranger.recv(100).startswith(b"-NOAUTH")
