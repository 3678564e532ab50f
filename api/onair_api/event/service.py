"""The parts of the event interface, connected; starts and stops them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from redis.exceptions import RedisError

from onair_api.auth.callers import Caller, Callers
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.event.changes.announcer import ChangeAnnouncer
from onair_api.event.changes.event_details import EventDetails
from onair_api.event.custom.bus import EventBus
from onair_api.event.custom.counted_values import CountedValues
from onair_api.event.custom.event_publisher import EventPublisher
from onair_api.event.custom.publication import decode_publication
from onair_api.event.custom.room_events import RoomEvents
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.replay.redis_sessions import RESPONSE_TIMEOUT_S
from onair_api.event.replay.replayer import Replayer
from onair_api.event.replay.session_store import SessionStore
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.event_streams import EventStreams
from onair_api.event.stream.http_stream import HttpStreams
from onair_api.event.stream.incoming import Incoming
from onair_api.event.stream.message_stream import MessageStreams
from onair_api.event.stream.request_handler import RequestHandler
from onair_api.event.stream.stream_admission import StreamAdmission
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.stream.websocket import WebSocketStreams
from onair_api.live.project.record import ProjectRecords
from onair_api.operation import Ids
from onair_api.redis_connections import redis_client
from onair_api.settings import Settings
from onair_crds.runtime.lasting_tasks import LastingTasks
from onair_crds.shapes import JsonObject


class Events:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        records: ProjectRecords,
        callers: Callers,
        revoked: Callable[[str, Identity], bool],
    ) -> None:
        """
        Args:
            revoked: whether the token with this id and identity was revoked, or a key of its deleted.
        """
        self._settings = settings
        events = settings.events
        buffer = ReplayBuffer(events.replay_s, events.replay_events, events.replay_bytes)
        delivery = EventDelivery(
            buffer, SubscriptionLimits(settings.events), settings.events.bytes_per_owner_s
        )
        self.bus: EventBus | None = None
        if settings.redis.url:
            self.bus = EventBus(settings.redis, events, buffer, delivery.deliver, delivery.lose_of)
        keys, values = settings.redis.keys, None
        if self.bus:
            values = CountedValues(self.bus.redis, keys, events.redis_service_bytes)
        self.details = EventDetails(values, self._redis_connected)
        self.announcer = ChangeAnnouncer(
            records, events.prefix, self.details, buffer, delivery.deliver, cluster.entry, delivery.lose
        )
        cluster.listen(self.announcer)
        self.publisher = EventPublisher(cluster, self.bus)
        self.rooms = RoomEvents(cluster, self.bus, events.prefix)
        # Of their own: a wave of closed sessions keeps no publisher and no channel waiting
        self._sessions_redis = redis_client(settings.redis, RESPONSE_TIMEOUT_S) if self.bus else None
        self._store = SessionStore(
            self._sessions_redis, self._redis_connected, events.replay_s, keys=settings.redis.keys
        )
        replayer = Replayer(buffer, self._store, events.replay_s)
        self.streams = EventStreams(cluster, settings, self.bus, delivery, replayer, revoked)
        requests = RequestHandler(cluster, settings, self.publisher, delivery, replayer)
        admission = StreamAdmission(callers)
        self.http = HttpStreams(events, admission, self.streams, requests)
        self.websocket = WebSocketStreams(settings, admission, self.streams, requests)
        incoming = Incoming(admission, requests)
        self.messages = MessageStreams(settings, admission, self.streams, incoming)
        self._tasks = LastingTasks()

    async def publish(self, caller: Caller, ids: Ids, message: JsonObject) -> bytes:
        """Publishes a custom event; gives it as JSON."""
        publication = decode_publication(message, self._settings.events, self._settings.limits)
        return await self.publisher.publish(caller.identity, publication, session_id=caller.session_id)

    def start(self) -> None:
        self._tasks.start(self.streams.sweep(), "streams")
        if self.bus:
            self._tasks.start(self.bus.run(), "redis")
            self._tasks.start(self._store.run(), "closed-sessions")

    @property
    def alive(self) -> bool:
        """Whether streams are swept, and Redis is listened to where there is one."""
        return self._tasks.alive

    async def stop(self) -> None:
        await self._tasks.stop()
        await self.announcer.stop()
        if self.bus:
            await self.bus.stop()
        if self._sessions_redis:
            with contextlib.suppress(RedisError, OSError):
                await self._sessions_redis.aclose()

    def _redis_connected(self) -> bool:
        return self.bus is not None and self.bus.connected
