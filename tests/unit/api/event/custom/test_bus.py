"""What a replica keeps of custom events, and of its connection, while Redis is away or slow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import redis.exceptions
from tests.support.waiting import until

from onair_api.access.target import Target
from onair_api.event.custom import bus as bus_module
from onair_api.event.custom import recent_pages, redis_link, redis_message
from onair_api.event.custom.bus import EventBus
from onair_api.event.custom.recent_pages import EarlyMessages
from onair_api.event.event import Event, Position
from onair_api.event.replay.recent_events import DELAY_S, ReplayBuffer
from onair_api.redis_keys import DEFAULT_KEYS
from onair_api.settings import EventSettings, RedisSettings

RECENT: tuple[bytes, int, int, list[bytes], list[int], bytes] = (b"epoch", 7, 0, [], [], b"")
"""What Redis has of a channel: its epoch, its last number, and no events."""


class Delivered:
    """What a replica delivers of custom events."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.lost: list[str] = []
        """Users, some of whose events were lost."""

    def deliver(self, event: Event) -> None:
        self.names.append(event.name)


def bus_of(url: str, delivered: Delivered, max_bytes: int = 10**6) -> EventBus:
    settings = EventSettings(redis_bytes=max_bytes)
    buffer = ReplayBuffer(60, 100, 10**6)
    return EventBus(RedisSettings(url=url), settings, buffer, delivered.deliver, delivered.lost.append)


@pytest.fixture
def delivered() -> Delivered:
    return Delivered()


@pytest.fixture
def bus(delivered: Delivered) -> EventBus:
    return bus_of("redis://127.0.0.1:1", delivered)


def message(number: int, epoch: str = "epoch") -> bytes:
    """A message as Redis has it; its event is named by its number."""
    event = Event(f"{number}", b" " * 1000, Target(), "", Position(0), (("user", "anna"),))
    return f"{number} {epoch}\n".encode() + redis_message.encode(event)


class StandInRedis:
    """Redis with messages of users; a page has one."""

    def __init__(self, bus: EventBus, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bus._recent, "_script", self._respond)
        monkeypatch.setattr(recent_pages, "BACKOFF_INITIAL_S", 0.001)
        self.numbers: dict[str, list[int]] = {}
        self.last = 0
        self.floor = 0
        self.failures = 0
        """How many more requests fail."""
        self.read: list[str] = []
        """Of whom it was asked, in order."""
        self.after_page: Callable[[], None] = lambda: None

    async def _respond(self, keys: list[str], args: list[Any]) -> Any:
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise redis.exceptions.TimeoutError
        user, after = keys[1].removeprefix(DEFAULT_KEYS.recent("")), int(args[2] or 0)
        self.read.append(user)
        left = [number for number in self.numbers.get(user, []) if number > after]
        texts, cursor = [message(each) for each in left[:1]], str(left[0]).encode() if left[1:] else b""
        self.after_page()
        return b"epoch", self.last, self.floor, texts, [0] * len(texts), cursor


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

    monkeypatch.setattr(bus._recent, "_script", recent)


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
    return DEFAULT_KEYS.channel(user)


async def loaded(bus: EventBus, *users: str) -> None:
    """Has the channels of users be those that Redis has responded for."""
    listening = [asyncio.create_task(bus.acquire(user)) for user in users]
    await asyncio.sleep(0)
    for name in map(channel_of, users):
        channel = bus._channels[name]
        channel.early = EarlyMessages(bus._settings.redis_bytes)
        bus._load(name, channel, channel.early)
    await asyncio.gather(*bus._loading, *listening)


async def test_silence_is_noticed_while_more_is_written_than_is_taken(
    silent_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_link, "PING_INTERVAL_S", 0.05)
    monkeypatch.setattr(redis_link, "READ_TIMEOUT_S", 0.2)
    bus = bus_of(silent_redis, Delivered())
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

    monkeypatch.setattr(bus._recent, "_script", recent)
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


async def test_what_redis_fails_to_give_of_one_channel_is_asked_for_again(
    bus: EventBus, delivered: Delivered, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = StandInRedis(bus, monkeypatch)
    stand_in.numbers, stand_in.last, stand_in.failures = {"anna": [3, 5, 7]}, 9, 4
    link = bus._link = StandInLink()  # type: ignore[assignment]
    await loaded(bus, "anna", "bert")
    assert not link.closed, "a slow Redis is not a dead one"
    assert delivered.names == ["3", "5", "7"]
    assert not delivered.lost
    assert all(channel.live.is_set() and channel.last == 9 for channel in bus._channels.values())


async def test_a_channel_with_much_in_it_does_not_delay_those_with_little(
    bus: EventBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = StandInRedis(bus, monkeypatch)
    users = [f"user-{number}" for number in range(bus_module.MAX_CONNECTIONS)]
    stand_in.numbers = {user: list(range(1, 50)) for user in users}
    await loaded(bus, *users, "anna")
    assert stand_in.read.index("anna") <= len(users)


async def test_events_that_redis_kept_no_longer_than_the_link_was_down_are_reported_lost(
    bus: EventBus, delivered: Delivered, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = StandInRedis(bus, monkeypatch)
    stand_in.numbers, stand_in.last, stand_in.floor = {"anna": [3]}, 4, 2
    await loaded(bus, "anna")
    assert not delivered.lost, "it was never to have those"
    source = bus.source("anna")
    assert source
    stand_in.numbers, stand_in.last, stand_in.floor = {"anna": [8]}, 9, 7
    await loaded(bus, "anna")
    assert (delivered.names, delivered.lost) == (["3", "8"], ["anna"])
    assert not bus._buffer.covers(source, Position(4), time.monotonic())
    assert bus._buffer.covers(source, Position(7), time.monotonic())


async def test_of_what_comes_during_a_load_as_much_is_kept_as_redis_keeps(
    delivered: Delivered, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = bus_of("redis://127.0.0.1:1", delivered, 3 * len(message(10)))
    stand_in = StandInRedis(bus, monkeypatch)
    name = channel_of("anna")
    coming: list[int] = []

    def come() -> None:
        for number in coming:
            bus._take(name, bus._channels[name], message(number))

    stand_in.numbers, stand_in.last, stand_in.after_page = {"anna": list(range(10, 16))}, 15, come
    coming += range(13, 17)
    await loaded(bus, "anna")
    assert delivered.names == [f"{number}" for number in range(10, 17)]
    assert not delivered.lost
    coming[:], stand_in.last = range(20, 25), 16
    await loaded(bus, "anna")
    assert delivered.names[-3:] == ["22", "23", "24"]
    assert delivered.lost == ["anna"]


async def test_what_is_published_after_redis_went_back_arrives_and_what_was_lost_is_reported(
    bus: EventBus, delivered: Delivered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica that lags becomes the primary, or a snapshot is restored: the epoch is the same."""
    stand_in = StandInRedis(bus, monkeypatch)
    stand_in.numbers, stand_in.last = {"anna": [18, 19, 20]}, 20
    await loaded(bus, "anna", "bert")
    source = bus.source("anna")
    assert source
    stand_in.numbers, stand_in.last = {"anna": [7, 8]}, 8
    await loaded(bus, "anna", "bert")
    assert delivered.lost == ["anna", "bert"]
    for number in (9, 10):
        bus._take(channel_of("anna"), bus._channels[channel_of("anna")], message(number))
    assert delivered.names == ["18", "19", "20", "9", "10"]
    assert bus.source("anna") == source
    closed_at = time.monotonic()
    assert not bus._buffer.covers(source, Position(20), closed_at), "who returns from before is told too"
    assert bus._buffer.covers(source, Position(8), closed_at + DELAY_S + 1)
