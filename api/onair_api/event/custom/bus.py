"""Carries custom events between replicas through Redis: one channel per user, one connection for all of them.

A channel's last minute is kept in a stream next to it, so a replica that starts
to listen, or listens again after Redis was unreachable, gets what it missed.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from onair_api.auth.identity import Identity
from onair_api.errors import Unavailable
from onair_api.event.custom import redis_message, scripts
from onair_api.event.custom.recent_pages import EarlyMessages, RecentPages
from onair_api.event.custom.redis_link import RedisLink
from onair_api.event.event import Event, Position
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.metrics import REDIS_CONNECTED
from onair_api.redis_connections import NOT_THE_PRIMARY, connection_options
from onair_api.settings import EventSettings, RedisSettings
from onair_crds.backoff import backoff_s
from onair_crds.runtime.steps import PACE, SharedPace, in_steps

log = structlog.get_logger()

RESPONSE_TIMEOUT_S = 1.0
MAX_CONNECTIONS = 16
BACKOFF_INITIAL_S = 0.1
BACKOFF_MAX_S = 2.0

Deliver = Callable[[Event], None]
"""Delivers an event to the sessions of this replica, and keeps it for replay."""
Lose = Callable[[str], None]
"""Tells the sessions that listen to a user's custom events that some were lost."""


@dataclass(slots=True)
class _Channel:
    listeners: int = 0
    idle_since: float = -1.0
    """When its last listener left, in seconds of the monotonic clock; negative: not subscribed yet."""
    live: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while its messages arrive and its recent past was loaded."""
    early: EarlyMessages | None = None
    """Messages that came while the recent past is being loaded; None: nothing is being loaded."""
    last: int = 0
    epoch: str | None = None
    loaded: bool = False
    """Its recent past was loaded before: what was missed since is for its sessions."""
    since: float = field(default_factory=time.monotonic)
    """When its first listener came, in seconds of the monotonic clock: its sessions may have been told then
    that they are subscribed, as nobody waits long for Redis."""


class EventBus:
    def __init__(
        self,
        redis: RedisSettings,
        settings: EventSettings,
        buffer: ReplayBuffer,
        deliver: Deliver,
        lose: Lose,
    ) -> None:
        self._keys = redis.keys
        self._settings = settings
        self._buffer = buffer
        self._deliver = deliver
        self._lose = lose
        pool = BlockingConnectionPool.from_url(
            str(redis.url),
            protocol=2,
            socket_connect_timeout=RESPONSE_TIMEOUT_S,
            socket_timeout=RESPONSE_TIMEOUT_S,
            health_check_interval=0,
            max_connections=MAX_CONNECTIONS,
            timeout=RESPONSE_TIMEOUT_S,
            **connection_options(redis),
        )
        self.redis = Redis(connection_pool=pool)
        self._publish = self.redis.register_script(scripts.PUBLISH)
        # Thousands of channels come back at once, and a connection is waited for a second at most
        self._recent = RecentPages(self.redis, self._keys.numbers, settings.replay_s, MAX_CONNECTIONS // 2)
        self._pace = SharedPace()
        """Of loading, so that others have their turns however many channels are loaded."""
        self._channels: dict[str, _Channel] = {}
        self._link: RedisLink | None = None
        self._loading: set[asyncio.Task[None]] = set()

    @property
    def connected(self) -> bool:
        return self._link is not None

    async def publish(self, user: Identity, event: Event) -> None:
        """Publishes a custom event to the streams of a user, on all replicas.

        Raises:
            Unavailable: Redis is unreachable; nobody receives the event.
        """
        link = self._link
        if link is None:
            raise redis_unavailable()
        try:
            await self._publish(
                keys=[
                    self._keys.numbers,
                    self._keys.recent(user.user_id),
                    *self._keys.of_a_service(user.service_id),
                ],
                args=[
                    secrets.token_hex(8),
                    self._keys.channel(user.user_id),
                    redis_message.encode(event),
                    self._settings.replay_events,
                    round(self._settings.replay_s * 2),
                    self._settings.redis_bytes,
                    self._settings.redis_service_bytes,
                ],
            )
        except (TimeoutError, RedisError, OSError) as error:
            if isinstance(error, NOT_THE_PRIMARY):
                await link.close()  # reconnects
            raise redis_unavailable() from error

    async def acquire(self, user_id: str) -> bool:
        """Listens to a user's channel from now on; returns whether its messages arrive already."""
        channel = self._channels.setdefault(self._keys.channel(user_id), _Channel())
        channel.listeners += 1
        if channel.idle_since < 0 and self._link:
            channel.idle_since = 0.0
            self._link.subscribe([self._keys.channel(user_id)])
        if not self.connected and not channel.live.is_set():
            return False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                await channel.live.wait()
        return channel.live.is_set()

    def release(self, user_id: str) -> None:
        """Ends what one `acquire` began."""
        name = self._keys.channel(user_id)
        channel = self._channels[name]
        channel.listeners -= 1
        if channel.listeners == 0:
            channel.idle_since = time.monotonic()

    def source(self, user_id: str) -> str | None:
        """The source that orders a user's custom events; None until they have arrived once.

        While Redis is unreachable it is that of what was delivered last: who closes meanwhile has to be told
        of what they missed.
        """
        name = self._keys.channel(user_id)
        channel = self._channels.get(name)
        return _source(name, channel.epoch) if channel and channel.epoch else None

    async def sweep(self) -> None:
        """Unsubscribes from channels that have had no listener for as long as events are kept."""
        expired = time.monotonic() - self._settings.replay_s
        unused = [n for n, c in self._channels.items() if not c.listeners and c.idle_since < expired]
        for name in unused:
            channel = self._channels.pop(name)
            if channel.epoch:
                self._buffer.forget(_source(name, channel.epoch))
            if self._link:
                self._link.unsubscribe(name)

    async def run(self) -> None:
        """Listens until it is cancelled, and reconnects with a backoff."""
        failures = 0
        while True:
            try:
                await self._listen()
            except (TimeoutError, RedisError, OSError) as error:
                failures = 0 if self.connected else failures + 1
                if self.connected or failures == 1:
                    log.warning("redis.unreachable", error=type(error).__name__)
            finally:
                await self._disconnected()
            ceiling = backoff_s(failures, BACKOFF_INITIAL_S, BACKOFF_MAX_S)
            await asyncio.sleep(random.uniform(ceiling / 2, ceiling))  # noqa: S311 - spreads load, protects nothing

    async def stop(self) -> None:
        with contextlib.suppress(RedisError, OSError):
            await self.redis.aclose()
            await self.redis.connection_pool.disconnect()

    async def _listen(self) -> None:
        link = RedisLink(self.redis.connection_pool, self._keys.absent)
        try:
            await link.connect()
            self._link = link
            REDIS_CONNECTED.inc()
            link.subscribe(self._channels)
            for each in self._channels.values():
                each.idle_since = max(each.idle_since, 0.0)
            log.info("redis.connected", channels=len(self._channels))
            async for kind, name, text in link.messages():
                channel = self._channels.get(name)
                if channel is None:
                    continue
                if kind == "subscribe":
                    channel.early = EarlyMessages(self._settings.redis_bytes)
                    self._load(name, channel, channel.early)
                elif kind == "message":
                    self._take(name, channel, text)
        finally:
            await link.close()

    async def _disconnected(self) -> None:
        if self._link is not None:
            REDIS_CONNECTED.dec()
        self._link = None
        for task in list(self._loading):
            task.cancel()
        for channel in self._channels.values():
            channel.live.clear()
            channel.early = None
        with contextlib.suppress(RedisError, OSError):  # an idle TLS connection whose peer is silent
            await self.redis.connection_pool.disconnect(inuse_connections=False)

    def _load(self, name: str, channel: _Channel, early: EarlyMessages) -> None:
        task = asyncio.create_task(self._load_recent(name, channel, early))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def _load_recent(self, name: str, channel: _Channel, early: EarlyMessages) -> None:
        """Takes what is kept of a channel's last minute, then what came while that was read."""
        PACE.set(self._pace)
        user_id = self._keys.user_of(name)
        async for page in self._recent.read(self._keys.recent(user_id)):
            if self._channels.get(name) is not channel:
                return
            self._set_epoch(name, channel, page.epoch, page.floor)
            if page.last < channel.last:
                self._go_back(name, channel, page.last)
            elif page.floor > channel.last:
                self._lost(name, channel, page.floor)
            listening_ms = (time.monotonic() - channel.since) * 1000
            async for text, age_ms in in_steps(page.messages):
                self._accept(name, channel, text, deliver=channel.loaded or age_ms < listening_ms)
            if page.is_last:
                channel.last = max(channel.last, page.last)
                self._buffer.advance(_source(name, channel.epoch), Position(channel.last))
        channel.loaded, loaded = True, channel.last
        async for text in in_steps(early.taken()):
            self._accept(name, channel, text, deliver=True)
        if early.dropped > loaded:
            self._lost(name, channel, early.dropped)
        channel.early = None
        channel.live.set()

    def _go_back(self, name: str, channel: _Channel, last: int) -> None:
        """Redis has older content than before: it counts from there on, and what came after is gone."""
        log.warning("redis.went_back")
        channel.last = last
        self._buffer.go_back(_source(name, channel.epoch), Position(last), time.monotonic())
        self._lose(self._keys.user_of(name))

    def _lost(self, name: str, channel: _Channel, number: int) -> None:
        """Messages up to a number are gone, and some of them were not delivered here."""
        self._buffer.lose(_source(name, channel.epoch), Position(number))
        self._lose(self._keys.user_of(name))

    def _set_epoch(self, name: str, channel: _Channel, epoch: str, floor: int) -> None:
        """Numbers start again when Redis lost its content."""
        if channel.epoch == epoch:
            return
        if channel.epoch:
            self._buffer.forget(_source(name, channel.epoch))
        channel.epoch, channel.last = epoch, floor
        self._buffer.start(_source(name, epoch), Position(floor), time.monotonic())

    def _take(self, name: str, channel: _Channel, text: bytes) -> None:
        if channel.early is None:
            self._accept(name, channel, text, deliver=True)
        else:
            channel.early.add(text)

    def _accept(self, name: str, channel: _Channel, text: bytes, *, deliver: bool) -> None:
        try:
            epoch, event = redis_message.decode(text, name)
        except (ValueError, KeyError, TypeError):
            log.warning("redis.message_invalid")
            return
        self._set_epoch(name, channel, epoch, 0)
        if event.position.number <= channel.last:
            return
        channel.last = event.position.number
        event.source = _source(name, epoch)
        if deliver:
            self._deliver(event)
        else:
            self._buffer.add(event, time.monotonic())


def _source(name: str, epoch: str | None) -> str:
    return f"{name}@{epoch}"


def redis_unavailable() -> Unavailable:
    """The error of what needs Redis while that cannot be reached."""
    return Unavailable("Redis, which carries events, cannot be reached now; try again", retry_after_s=1)
