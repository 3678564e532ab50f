"""All open streams of this replica: opening, requests, delivery, closing."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Callable

import structlog

from onair_api.access.audiences import reach_of
from onair_api.access.target import Target
from onair_api.access.visibility import owner_of, place_of
from onair_api.auth.identity import Identity
from onair_api.auth.roles import Operation, authorize
from onair_api.auth.tokens import Verified
from onair_api.cache.cluster import Cluster
from onair_api.errors import ResourceExhausted, RpcError
from onair_api.event.custom.bus import Bus
from onair_api.event.custom.publisher import Publisher
from onair_api.event.event import Event, dumps
from onair_api.event.replay.buffer import Ring
from onair_api.event.replay.replayer import Reconnects
from onair_api.event.replay.session_store import Departures
from onair_api.event.stream.backlog import Outbox
from onair_api.event.stream.requests import Asked, ping_of, publication_of, subscription_of
from onair_api.event.stream.session import Session
from onair_api.event.stream.subscriptions import Subscription, Subscriptions
from onair_api.event.stream.token_expiry import announce_end, end_revoked, tell_to_reconnect
from onair_api.kubernetes_errors import rpc_error
from onair_api.metrics import EVENTS_IN, EVENTS_OUT, STREAM_SESSIONS
from onair_api.settings import Settings
from onair_crds.kube.errors import ApiError

log = structlog.get_logger()

SWEEP_EVERY_S = 2.0


class Streams:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        ring: Ring,
        publisher: Publisher,
        bus: Bus | None,
        departures: Departures,
        revoked: Callable[[str], bool],
    ) -> None:
        """
        Args:
            revoked: whether the token with this id ended before its time.
        """
        self._cluster = cluster
        self._settings = settings
        self._ring = ring
        self._publisher = publisher
        self._revoked = revoked
        self._bus = bus
        self._reconnects = Reconnects(ring, bus, departures, settings.events.replay_s)
        self._sessions: dict[Session, None] = {}
        self._of_token: Counter[str] = Counter()
        self._subscriptions = Subscriptions()
        self._leaving = 0
        self.draining = False

    @property
    def open_sessions(self) -> int:
        return len(self._sessions)

    @property
    def closing(self) -> int:
        """Sessions that are gone and whose departure is being noted."""
        return self._leaving

    # Delivery: the hot path.

    def deliver(self, event: Event) -> None:
        """Gives an event to every session here that is to have it, and to the ring."""
        EVENTS_IN.labels(event.family).inc()
        self._ring.add(event, time.time())
        receivers = self._subscriptions.receivers(event)
        count = 0
        for session in receivers:
            if session.resume is not None and session.resume.has(event):
                continue
            session.deliver(event)
            count += 1
        event.delivered()
        if count:
            EVENTS_OUT.inc(count)

    # Life of a session.

    async def open(self, verified: Verified, session_id: str | None, outbox: Outbox) -> Session:
        """
        Raises:
            ResourceExhausted: the token has too many streams open.
        """
        most = self._settings.events.sessions_per_token
        if self._of_token[verified.id] >= most:
            raise ResourceExhausted(
                f"this token has {most} streams open, which is the most it may have", retry_after_s=5
            )
        identity = verified.identity
        session = Session(session_id or str(uuid.uuid4()), identity, reach_of(identity), verified.id, outbox)
        outbox.lost = session.loss
        self._sessions[session] = None
        self._of_token[verified.id] += 1
        STREAM_SESSIONS.labels(outbox.format.value).inc()
        try:
            await self._listen(session)
            if session_id:
                await self._reconnects.resume(session)
        except BaseException:
            await self.close(session)
            raise
        announce_end(session, verified.expires, self._settings.events.reconnect_lead_s)
        if self.draining:
            tell_to_reconnect(session, time.time() + self._drain_s, reauthenticate=False)
        return session

    async def close(self, session: Session) -> None:
        """Ends it: nothing is delivered any more; what it could have had is noted for its return."""
        if session.closed:
            return
        session.closed = True
        del self._sessions[session]
        self._of_token[session.token] -= 1
        if not self._of_token[session.token]:
            del self._of_token[session.token]
        STREAM_SESSIONS.labels(session.outbox.format.value).dec()
        for timer in session.end_timers:
            timer.cancel()
        departure = self._reconnects.departure(session, self._cluster.age_s)
        for subscription in session.subscriptions.values():
            self._subscriptions.remove(session, subscription)
        session.subscriptions.clear()
        if self._bus:
            for user_id in session.channels:
                await self._bus.release(user_id)
        if departure:
            self._leaving += 1
            try:
                await self._reconnects.keep(session, departure)
            finally:
                self._leaving -= 1

    async def _listen(self, session: Session) -> None:
        """Hears of the custom events that this session may have."""
        users = [session.reach.user_id]
        if guest := session.identity.guest:
            try:
                owner = await owner_of(self._cluster, guest.collection_id)
            except ApiError:
                owner = None
            users += [Identity(*owner, "", None, ()).user_id] if owner else []
        session.channels = tuple(dict.fromkeys(users))
        if self._bus:
            for user_id in session.channels:
                await self._bus.acquire(user_id)

    # Requests.

    async def handle(self, session: Session, asked: Asked) -> None:
        """Answers one request, on the stream."""
        try:
            await self._handle(session, asked)
        except RpcError as error:
            session.reply_error(asked.correlation_id, error)
        except ApiError as error:
            session.reply_error(asked.correlation_id, rpc_error(error))

    async def _handle(self, session: Session, asked: Asked) -> None:
        tag = asked.correlation_id
        match asked.kind:
            case "ping":
                session.reply(tag, "pong", dumps(ping_of(asked.value)))
            case "publish":
                authorize(session.identity, Operation.PUBLISH_EVENT)
                limits, events = self._settings.limits, self._settings.events
                publication = publication_of(asked.value, events, limits, "publish.")
                body = await self._publisher.publish(
                    session.identity,
                    publication,
                    session_id=session.id,
                    origin=session.origin,
                    correlation_id=tag,
                    path="publish.target",
                )
                session.reply(tag, "published", body)
            case "subscribe":
                await self._subscribe(session, tag, *subscription_of(asked.value, "subscribe"))
            case "unsubscribe":
                name, target = subscription_of(asked.value, "unsubscribe")
                subscription = session.subscriptions.pop((name, target), None)
                if subscription:
                    self._subscriptions.remove(session, subscription)
                session.reply(tag, "unsubscribed", _subscription_json(name, target))

    async def _subscribe(self, session: Session, tag: str | None, name: str, target: Target) -> None:
        whole = Target()
        if target:
            whole = (await place_of(self._cluster, session.identity, target, "subscribe.target")).whole
        most = self._settings.events.subscriptions_per_session
        known = session.subscriptions.get((name, target))
        if known is None and len(session.subscriptions) >= most:
            raise ResourceExhausted(f"a stream may hold at most {most} subscriptions")
        if session.closed:
            return
        session.reply(tag, "subscribed", _subscription_json(name, target))
        if known is not None:
            return
        subscription = Subscription(name, target, whole)
        self._reconnects.catch_up(session, subscription)
        session.subscriptions[name, target] = subscription
        self._subscriptions.add(session, subscription)

    # The end of slow readers, and of the server.

    async def drain(self) -> None:
        """Asks every stream to reconnect, gives them time, and ends those that stay."""
        self.draining = True
        end = time.monotonic() + self._drain_s
        for session in list(self._sessions):
            tell_to_reconnect(session, time.time() + self._drain_s, reauthenticate=False)
        while self._sessions and time.monotonic() < end:  # noqa: ASYNC110 - bounded, and only at the end
            await asyncio.sleep(0.02)
        left = list(self._sessions)
        for session in left:
            session.outbox.end(1012, "the server ends; reconnect")
        await asyncio.gather(*(self.close(session) for session in left), return_exceptions=True)

    async def watch_over(self) -> None:
        """Cuts readers that take nothing, ends streams of revoked tokens, leaves channels nobody hears."""
        while True:
            await asyncio.sleep(SWEEP_EVERY_S)
            now = time.monotonic()
            for session in self._sessions:
                if session.resume is not None and session.resume.until < now:
                    session.resume = None
                if session.outbox.stalled_s(now) > self._settings.events.stalled_after_s:
                    log.info("stream.stalled", session=session.id)
                    session.outbox.abort()
                if not session.revoked and self._revoked(session.token):
                    session.revoked = True
                    end_revoked(session, self._drain_s)
            if self._bus:
                await self._bus.sweep()

    @property
    def _drain_s(self) -> float:
        return min(self._settings.events.drain_s, self._settings.listen.shutdown_grace_s / 2)


def _subscription_json(name: str, target: Target) -> bytes:
    return dumps({"name": name, "target": target.json()})
