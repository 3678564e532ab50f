"""What a replica keeps of custom events, and of its connection, while Redis is away or slow."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
import redis.exceptions

from onair_api.event.custom import bus as bus_module
from onair_api.event.custom import scripts
from onair_api.event.custom.bus import EventBus
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.settings import EventSettings, RedisSettings

RECENT: tuple[bytes, int, int, list[bytes], list[int]] = (b"epoch", 7, 0, [], [])
"""What Redis has of a channel: its epoch, its last number, and no events."""


@pytest.fixture
def bus() -> EventBus:
    settings = RedisSettings(url="redis://127.0.0.1:1")
    return EventBus(settings, EventSettings(), ReplayBuffer(60, 100, 10**6), lambda _: None)


class StandInLink:
    """A connection to Redis that takes what is sent once that is allowed."""

    def __init__(self) -> None:
        self.subscribed: set[str] = set()
        self.reads = asyncio.Event()
        self.closed = 0

    async def subscribe(self, names: list[str]) -> None:
        self.subscribed.update(names)

    async def unsubscribe(self, name: str) -> None:
        self.subscribed.discard(name)
        await self.reads.wait()

    async def close(self) -> None:
        self.closed += 1


def redis_responds(bus: EventBus, monkeypatch: pytest.MonkeyPatch) -> None:
    async def recent(**_: object) -> Any:
        return RECENT

    monkeypatch.setattr(bus, "_recent", recent)


def channel_of(user: str) -> str:
    return scripts.CHANNEL.format(user)


async def loaded(bus: EventBus, *users: str) -> None:
    """Has the channels of users be those that Redis has responded for."""
    listening = [asyncio.create_task(bus.acquire(user)) for user in users]
    await asyncio.sleep(0)
    for name in map(channel_of, users):
        bus._load(name, bus._channels[name])
    await asyncio.gather(*bus._loading, *listening)


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
    link.reads.set()
    await asyncio.gather(sweeping, listening)
    assert link.subscribed == {channel_of("bert")}
    bus.release("bert")
