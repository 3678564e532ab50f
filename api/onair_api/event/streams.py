"""All open streams of this replica: opening, requests, delivery, closing."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Iterable

import structlog

from onair_api.auth.identity import Identity
from onair_api.auth.roles import Operation, authorize
from onair_api.auth.tokens import Verified
from onair_api.cache.cluster import Cluster
from onair_api.errors import DataLoss, ResourceExhausted, RpcError, Unauthenticated
from onair_api.event.bus import Bus
from onair_api.event.departures import Departures
from onair_api.event.event import Event, Position, dumps
from onair_api.event.outbox import Outbox
from onair_api.event.publisher import Publisher
from onair_api.event.reach import reach_of
from onair_api.event.requests import Asked, ping_of, publication_of, subscription_of
from onair_api.event.resume import Departure, Resume
from onair_api.event.ring import Ring
from onair_api.event.scope import Target
from onair_api.event.session import Session, farewell
from onair_api.event.subscriptions import Subscription, Subscriptions
from onair_api.event.visibility import owner_of, place_of
from onair_api.kubernetes_errors import rpc_error
from onair_api.metrics import EVENTS_IN, EVENTS_OUT, STREAM_SESSIONS
from onair_api.settings import Settings
from onair_crds.client import ApiError

log = structlog.get_logger()

SWEEP_EVERY_S = 2.0
WATCHED_SOURCES = ("Collection", "Project", "Source", "Destination", "Layout")


class Streams:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        ring: Ring,
        publisher: Publisher,
        bus: Bus | None,
        departures: Departures,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._ring = ring
        self._publisher = publisher
        self._bus = bus
        self._departures = departures
        self._sessions: dict[Session, None] = {}
        self._of_token: Counter[str] = Counter()
        self._subscriptions = Subscriptions()
        self._closing: set[asyncio.Task[None]] = set()
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
                await self._resume(session)
        except BaseException:
            await self.close(session)
            raise
        self._announce_end(session, verified.expires)
        if self.draining:
            self._tell_to_reconnect(session, time.time() + self._drain_s, reauthenticate=False)
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
        subscriptions = list(session.subscriptions.values())
        departure = Departure(self._positions(session), subscriptions, time.time() - self._cluster_age_s())
        for subscription in subscriptions:
            self._subscriptions.remove(session, subscription)
        session.subscriptions.clear()
        if self._bus:
            for user_id in session.channels:
                await self._bus.release(user_id)
        if subscriptions:
            reachable = bool(self._bus and self._bus.connected)
            self._leaving += 1
            try:
                await self._departures.keep(session.reach.user_id, session.id, departure, redis=reachable)
            finally:
                self._leaving -= 1

    def close_later(self, session: Session) -> None:
        """Closes it from where nothing can be awaited."""
        task = asyncio.get_running_loop().create_task(self.close(session))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

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
        self._catch_up(session, subscription)
        session.subscriptions[name, target] = subscription
        self._subscriptions.add(session, subscription)

    # Reconnects.

    async def _resume(self, session: Session) -> None:
        reachable = bool(self._bus and self._bus.connected)
        departure = await self._departures.take(session.reach.user_id, session.id, redis=reachable)
        if departure:
            session.resume = Resume(departure, time.monotonic() + self._settings.events.replay_s)

    def _catch_up(self, session: Session, subscription: Subscription) -> None:
        """Gives what the session would have had in its absence, as far as this subscription takes it."""
        resume = session.resume
        if resume is None:
            return
        if resume.until < time.monotonic():
            session.resume = None
            return
        departure = resume.departure
        if not resume.told_of_loss and not all(
            self._ring.covers(source, position, departure.at)
            for source, position in departure.positions.items()
        ):
            resume.told_of_loss = True
            session.reply_error(
                None,
                DataLoss("events between the last connection and this one were lost; read the state anew"),
            )
        before = list(session.subscriptions.values())
        audiences = set(session.reach.keys)
        for event in self._ring.after(departure.positions):
            if (
                not audiences.isdisjoint(event.audiences)
                and (event.family != "layout" or session.reach.sees_layouts)
                and subscription.takes(event)
                and departure.wanted(event)
                and not any(each.takes(event) for each in before)
            ):
                session.deliver(event)

    def _positions(self, session: Session) -> dict[str, Position]:
        """How far a session got: what this replica heard, but for what still waits for the reader."""
        sources = list(WATCHED_SOURCES)
        if self._bus:
            sources += [s for user_id in session.channels if (s := self._bus.source(user_id))]
        positions = {source: p for source in sources if (p := self._ring.position(source)) is not None}
        for event in session.outbox.unsent():
            if event.source in positions:
                before = Position(event.position.number, event.position.part - 1)
                positions[event.source] = min(positions[event.source], before)
        return positions

    def _cluster_age_s(self) -> float:
        return self._cluster.age_s

    # The end of tokens, of slow readers, of the server.

    def _announce_end(self, session: Session, expires: float) -> None:
        """Tells the session to reconnect ahead of its token's end, and ends it then."""
        loop = asyncio.get_running_loop()
        left_s = expires - time.time()
        session.end_timers = [
            loop.call_later(
                max(0.0, left_s - min(self._settings.events.reconnect_lead_s, left_s / 2)),
                lambda: self._tell_to_reconnect(session, expires, reauthenticate=True),
            ),
            loop.call_later(max(0.0, left_s), lambda: self._expire(session)),
        ]

    def _expire(self, session: Session) -> None:
        session.outbox.push(farewell(Unauthenticated("the access token has expired"), session.outbox.format))
        session.outbox.end(1008, "the access token has expired")

    def _tell_to_reconnect(self, session: Session, before: float, *, reauthenticate: bool) -> None:
        said = {"reauthenticate": reauthenticate, "beforeTimestamp": str(round(before * 1000))}
        session.reply(None, "reconnectBefore", dumps(said))

    @property
    def _drain_s(self) -> float:
        return min(self._settings.events.drain_s, self._settings.listen.shutdown_grace_s / 2)

    async def drain(self) -> None:
        """Asks every stream to reconnect, gives them time, and ends those that stay."""
        self.draining = True
        end = time.monotonic() + self._drain_s
        for session in list(self._sessions):
            self._tell_to_reconnect(session, time.time() + self._drain_s, reauthenticate=False)
        while self._sessions and time.monotonic() < end:  # noqa: ASYNC110 - bounded, and only at the end
            await asyncio.sleep(0.02)
        for session in list(self._sessions):
            session.outbox.end(1012, "the server ends; reconnect")
            self.close_later(session)
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def watch_over(self) -> None:
        """Cuts streams whose readers take nothing, and leaves channels that nobody listens to."""
        while True:
            await asyncio.sleep(SWEEP_EVERY_S)
            now = time.monotonic()
            for session in self._stalled(now):
                log.info("stream.stalled", session=session.id)
                session.outbox.abort()
            for session in self._sessions:
                if session.resume is not None and session.resume.until < now:
                    session.resume = None
            if self._bus:
                await self._bus.sweep()

    def _stalled(self, now: float) -> Iterable[Session]:
        limit_s = self._settings.events.stalled_after_s
        return [each for each in self._sessions if each.outbox.stalled_s(now) > limit_s]


def _subscription_json(name: str, target: Target) -> bytes:
    return dumps({"name": name, "target": target.json()})
