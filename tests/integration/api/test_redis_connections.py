"""A Redis with a password, one with TLS, one without a password yet: all of the facade that uses it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest
from redis import Redis
from tests.support.certificate_authority import HOST, CertificateAuthority
from tests.support.event_client import SignIn, WebSocket, events_of, publishes
from tests.support.facade import FacadeThread, StoredResources
from tests.support.fixtures.facade import RecordedLogs
from tests.support.redis_server import RedisServer
from tests.support.waiting import until, wait_for

from onair_api.access.audiences import user_key
from onair_api.access.target import Target
from onair_api.auth import rate_limits
from onair_api.auth.identity import Identity
from onair_api.auth.rate_limits import RateLimits
from onair_api.errors import Unavailable
from onair_api.event.custom.bus import EventBus
from onair_api.event.event import Event, Position
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.live.room.kept_values import KeptValues
from onair_api.settings import EventSettings, RateLimitSettings, RedisSettings

PASSWORD, ANOTHER = "a-password-of-tests", "another-password-of-tests"
USER = Identity("service", "anna", "", None, ())
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


def port_of(server: RedisServer) -> int:
    return int(server.url.rsplit(":", 1)[1].split("/")[0])


def event_of(name: str) -> Event:
    audiences = (user_key(USER.user_id),)
    return Event(name, b"{}", Target(), source="", position=Position(0), audiences=audiences)


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


class Address:
    """A port that leads to one of several servers, as a name or a virtual address does."""

    def __init__(self, server: RedisServer) -> None:
        self.leads_to = server
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._forward, HOST, 0)
        self.url = f"redis://{HOST}:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, towards = await asyncio.open_connection(HOST, port_of(self.leads_to))

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(1 << 16):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        await asyncio.gather(pump(reader, towards), pump(upstream, writer))


async def test_after_a_failover_nothing_stays_with_the_former_primary(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "OPEN_S", 0.05)
    former, primary = start(""), start("")
    async with Address(former) as address:
        redis = RedisSettings(url=address.url)
        received: list[str] = []
        buffer = ReplayBuffer(60, 100, 10**6)
        bus = EventBus(redis, EventSettings(), buffer, lambda e: received.append(e.name), lambda _: None)
        limits = RateLimits(RateLimitSettings(per_token=1000), redis)
        values = KeptValues(redis)
        running = [asyncio.create_task(each.run()) for each in (bus, limits)]
        await until(lambda: bus.connected and not limits._open, "Redis is connected")
        await bus.acquire(USER.user_id)

        async def publishes(name: str) -> bool:
            with contextlib.suppress(Unavailable):
                await bus.publish(USER, event_of(name))
                return True
            return False

        # Several connections each
        assert all(await asyncio.gather(*(publishes("before") for _ in range(5))))
        await asyncio.gather(*(values.put("key", "before", 60) for _ in range(5)))
        await until(lambda: received == ["before"] * 5, "what is published arrives")

        address.leads_to = primary
        with Redis.from_url(former.url) as client, Redis.from_url(primary.url, decode_responses=True) as new:
            client.replicaof(HOST, port_of(primary))

            async def is_kept() -> bool:
                await values.put("key", "after", 60)
                return bool(new.get(redis.keys.room("key")) == "after")

            def is_counted() -> bool:
                limits.count("token", "service")
                return not limits._open and bool(new.keys("*onair/token*"))

            await until(lambda: publishes("after"), "publishing works again")
            await until(is_kept, "values are kept again")
            await until(is_counted, "requests are counted together again")
            await until(lambda: received[-1] == "after", "the new primary is listened to")
            assert [each["name"] for each in client.client_list(_type="pubsub")] == []
        for task in running:
            task.cancel()
        await values.close()
        await bus.stop()


def test_nobody_else_gets_anything(start: Start) -> None:
    with socket.create_connection((HOST, port_of(start(PASSWORD)))) as stranger:
        stranger.sendall(b"KEYS *\r\n")
        assert stranger.recv(100).startswith(b"-NOAUTH")
