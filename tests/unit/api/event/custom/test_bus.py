"""What a replica keeps of custom events, and of its connection, while Redis is away or slow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import redis.exceptions
from tests.support.waiting import until

from onair_api.event.custom import bus as bus_module
from onair_api.event.custom import redis_link, scripts
from onair_api.event.custom.bus import EventBus
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.settings import EventSettings, RedisSettings

RECENT: tuple[bytes, int, int, list[bytes], list[int]] = (b"epoch", 7, 0, [], [])
"""What Redis has of a channel: its epoch, its last number, and no events."""


def bus_of(url: str) -> EventBus:
    return EventBus(RedisSettings(url=url), EventSettings(), ReplayBuffer(60, 100, 10**6), lambda _: None)


@pytest.fixture
def bus() -> EventBus:
    return bus_of("redis://127.0.0.1:1")


class StandInLink:
    """A connection to Redis."""

    def __init__(self) -> None:
        self.subscribed: set[str] = set()
        self.closed = 0

    def subscribe(self, names: list[str]) -> None:
        self.subscribed.update(names)

    def unsubscribe(self, name: str) -> None:
        self.subscribed.discard(name)

    async def close(self) -> None:
        self.closed += 1


def redis_responds(bus: EventBus, monkeypatch: pytest.MonkeyPatch) -> None:
    async def recent(**_: object) -> Any:
        return RECENT

    monkeypatch.setattr(bus, "_recent", recent)


@pytest.fixture
async def silent_redis() -> AsyncIterator[str]:
    """The URL of a server that goes silent, and reads nothing more, once a client subscribes."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while b"SUBSCRIBE" not in (received := await reader.read(1 << 16)):
            writer.write(b"+OK\r\n" * received.count(b"SETINFO") + b":0\r\n" * received.count(b"DEL"))
        await asyncio.Event().wait()

    server = await asyncio.start_server(respond, "127.0.0.1", 0)
    yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


def channel_of(user: str) -> str:
    return scripts.CHANNEL.format(user)


async def loaded(bus: EventBus, *users: str) -> None:
    """Has the channels of users be those that Redis has responded for."""
    listening = [asyncio.create_task(bus.acquire(user)) for user in users]
    await asyncio.sleep(0)
    for name in map(channel_of, users):
        bus._load(name, bus._channels[name])
    await asyncio.gather(*bus._loading, *listening)


async def test_silence_is_noticed_while_more_is_written_than_is_taken(
    silent_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_link, "PING_INTERVAL_S", 0.05)
    monkeypatch.setattr(redis_link, "READ_TIMEOUT_S", 0.2)
    bus = bus_of(silent_redis)
    listening = asyncio.create_task(bus.run())
    await until(lambda: bus.connected, "it is connected")
    transport = bus._link._connection._writer.transport  # type: ignore[union-attr]
    async with asyncio.timeout(10):
        opened = await asyncio.gather(*(bus.acquire(f"{each}" * 1_000_000) for each in range(10, 30)))
    assert not any(opened)
    await until(lambda: transport.is_closing() and not transport.get_write_buffer_size(), "it is given up")
    listening.cancel()
    await bus.stop()


async def test_it_connects_again_where_idle_connections_do_not_close_in_time(
    bus: EventBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By TLS a peer is waited for that is to say that it closes, too."""
    attempts = asyncio.Semaphore(0)

    async def listen() -> None:
        attempts.release()
        raise ConnectionError

    async def disconnect(**_: object) -> None:
        raise redis.exceptions.TimeoutError

    monkeypatch.setattr(bus_module, "BACKOFF_INITIAL_S", 0.01)
    monkeypatch.setattr(bus, "_listen", listen)
    monkeypatch.setattr(bus.redis.connection_pool, "disconnect", disconnect)
    listening = asyncio.create_task(bus.run())
    async with asyncio.timeout(10):
        for _ in range(3):
            await attempts.acquire()
    assert not listening.done()
    listening.cancel()
    await bus.stop()


async def test_who_closes_while_redis_is_away_has_the_position_of_what_was_delivered_last(
    bus: EventBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis_responds(bus, monkeypatch)
    assert bus.source("anna") is None
    await loaded(bus, "anna")
    source = bus.source("anna")
    assert source
    await bus._disconnected()
    assert bus.source("anna") == source


async def test_channels_that_come_back_wait_for_each_other_and_not_for_connections(
    bus: EventBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once, most = 0, 0

    async def recent(**_: object) -> Any:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if at_once > bus_module.MAX_CONNECTIONS:
            raise redis.exceptions.ConnectionError("No connection available.")
        await asyncio.sleep(0)
        at_once -= 1
        return RECENT

    monkeypatch.setattr(bus, "_recent", recent)
    link = bus._link = StandInLink()  # type: ignore[assignment]
    await loaded(bus, *(f"user-{number}" for number in range(1000)))
    assert not link.closed
    assert all(channel.live.is_set() for channel in bus._channels.values())
    assert 1 < most < bus_module.MAX_CONNECTIONS, "publishers need some"


async def test_a_channel_that_is_listened_to_again_while_others_are_left_stays(
    bus: EventBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis_responds(bus, monkeypatch)
    link = bus._link = StandInLink()  # type: ignore[assignment]
    await loaded(bus, "anna", "bert")
    for user in ("anna", "bert"):
        bus.release(user)
        bus._channels[channel_of(user)].idle_since = time.monotonic() - EventSettings().replay_s - 1
    sweeping = asyncio.create_task(bus.sweep())
    await asyncio.sleep(0)
    listening = asyncio.create_task(bus.acquire("bert"))
    await asyncio.sleep(0)
    await asyncio.gather(sweeping, listening)
    assert link.subscribed == {channel_of("bert")}
    bus.release("bert")
