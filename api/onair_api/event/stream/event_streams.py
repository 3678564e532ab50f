"""All open streams of this replica: opens and closes them, ends those that must end, drains."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator

import structlog

from onair_api.access.audiences import GuestPlace, visibility_of
from onair_api.access.ownership import place_of_guest
from onair_api.auth.identity import Identity
from onair_api.auth.verified_token import Verified
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import PROJECT
from onair_api.errors import ResourceExhausted, Unauthenticated
from onair_api.event.changes.announcer import KINDS
from onair_api.event.custom.bus import EventBus
from onair_api.event.replay.closed_session_position import ClosedSession
from onair_api.event.replay.replayer import Replayer
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.owner_turns import OwnerTurns
from onair_api.event.stream.sender import Sender
from onair_api.event.stream.session import Session
from onair_api.event.stream.token_expiry import end_at_expiry, end_revoked
from onair_api.metrics import STREAM_SESSIONS
from onair_api.settings import Settings
from onair_crds.runtime.steps import in_steps

log = structlog.get_logger()

SWEEP_INTERVAL_S = 2.0
SERVICE_RESTART = 1012
"""WebSocket close code (RFC 6455, registered with IANA)."""
STORED_AT_ONCE = 8
"""Sessions of streams that are sent away: to the others events are delivered meanwhile."""
STORE_S = 2.0
"""For which clients are not sent away yet because their sessions are being stored."""


class EventStreams:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        bus: EventBus | None,
        delivery: EventDelivery,
        replayer: Replayer,
        revoked: Callable[[str, Identity], bool],
    ) -> None:
        """
        Args:
            revoked: whether the token with this id and identity was revoked, or a key of its deleted.
        """
        self._cluster = cluster
        self._settings = settings
        self._bus = bus
        self._delivery = delivery
        self._replayer = replayer
        self._revoked = revoked
        self._sessions: dict[Session, None] = {}
        self._sessions_of_token: Counter[str] = Counter()
        self._ends = OwnerTurns()
        self._ending = 0
        """Sessions whose subscriptions are being ended."""
        self._storing: set[asyncio.Task[None]] = set()
        self._draining = False

    @property
    def open_sessions(self) -> int:
        return len(self._sessions)

    @property
    def closing_sessions(self) -> int:
        """Sessions that are gone and whose subscriptions are being ended, and stored for their return."""
        return self._ending + len(self._storing)

    @property
    def idle(self) -> bool:
        """Whether nothing is kept of any session."""
        return not self._sessions and not self._sessions_of_token and self._delivery.idle

    async def open(self, verified: Verified, session_id: str | None, sender: Sender) -> Session:
        """Opens a session and counts it.

        Raises:
            ResourceExhausted: the token has too many streams open.
            Unauthenticated: it is a guest's of a project that does not exist any more.
            ApiError: the API server had to be asked and did not respond.
        """
        identity = verified.identity
        place = await self._place_of(identity)
        # Nothing waits between the look and the count
        limit = self._settings.events.sessions_per_token
        if self._sessions_of_token[verified.id] >= limit:
            raise ResourceExhausted(
                f"this token has {limit} streams open, which is the maximum", retry_after_s=5
            )
        visibility = visibility_of(identity, place)
        session = Session(session_id or str(uuid.uuid4()), identity, visibility, verified.id, sender, place)
        self._sessions[session] = None
        self._sessions_of_token[verified.id] += 1
        STREAM_SESSIONS.labels(sender.format.value).inc()
        try:
            await self._listen(session)
            if session_id:
                session.resumed = await self._replayer.resume(visibility.user_id, session_id)
        except BaseException:
            await self.close(session)
            raise
        end_at_expiry(session, verified.expires, self._settings.events.reconnect_lead_s)
        if self._draining:
            session.ask_to_reconnect(time.time() + self.drain_s, reauthenticate=False)
        return session

    async def _place_of(self, identity: Identity) -> GuestPlace | None:
        if identity.guest is None:
            return None
        place = await place_of_guest(self._cluster, identity, identity.guest)
        if place is None:
            raise Unauthenticated("the access token's project does not exist")
        return place

    def _lost_its_project(self, session: Session) -> bool:
        """Whether a guest's project is gone; nothing of a later one of its id reached the session."""
        guest, place = session.identity.guest, session.place
        if guest is None or place is None:
            return False
        project = self._cluster.view.entry(PROJECT, guest.project_id)
        return project is None or project.uid != place.project_uid

    async def close(self, session: Session) -> None:
        """Ends delivery to it, and stores how far it got for its return."""
        if session.closed:
            return
        await self._finish(session, self._end_delivery(session))

    def _end_delivery(self, session: Session) -> asyncio.Task[None]:
        """From here on nothing is delivered to a session; how far it got is being stored.

        That begins at once: its client may be back before its subscriptions have had their turns.
        """
        session.closed = True
        del self._sessions[session]
        self._sessions_of_token[session.token] -= 1
        if not self._sessions_of_token[session.token]:
            del self._sessions_of_token[session.token]
        STREAM_SESSIONS.labels(session.sender.format.value).dec()
        for timer in session.end_timers:
            timer.cancel()
        closed = self._replayer.closed_session(
            session.visibility,
            session.subscriptions.values(),
            session.resumed,
            self._sources(session),
            self._delivery.unsent(session),
            self._cluster.age_s,
        )
        storing = asyncio.create_task(self._keep(session, closed))
        self._storing.add(storing)
        storing.add_done_callback(self._storing.discard)
        return storing

    async def _keep(self, session: Session, closed: ClosedSession | None) -> None:
        if closed:
            await self._replayer.keep(session.visibility.user_id, session.id, closed)

    async def _finish(self, session: Session, storing: asyncio.Task[None]) -> None:
        await self._end_subscriptions(session)
        await asyncio.shield(storing)

    async def _end_subscriptions(self, session: Session) -> None:
        self._ending += 1
        try:
            await self._ends.next(session.owner)
        finally:
            self._ending -= 1
            for subscription in session.subscriptions.values():
                self._delivery.remove(session, subscription)
            session.subscriptions.clear()
            if self._bus:
                for user_id in session.channels:
                    self._bus.release(user_id)

    async def _listen(self, session: Session) -> None:
        """Listens to the custom events that this session may receive."""
        users = [session.visibility.user_id]
        if session.place:
            users.append(Identity(*session.place.owner, "", None, ()).user_id)
        if self._bus is None:
            return
        for user_id in dict.fromkeys(users):
            # It listens from the call on, so also where the wait for the channel is cancelled
            session.channels = (*session.channels, user_id)
            await self._bus.acquire(user_id)

    def _sources(self, session: Session) -> Iterator[str]:
        """All that order the events of a session."""
        yield from KINDS
        if self._bus:
            for user_id in session.channels:
                if source := self._bus.source(user_id):
                    yield source

    async def drain(self) -> None:
        """Asks every stream to reconnect, waits a while, and closes those that stay."""
        self._draining = True
        deadline = time.monotonic() + self.drain_s
        for session in list(self._sessions):
            session.ask_to_reconnect(time.time() + self.drain_s, reauthenticate=False)
        while self._sessions and time.monotonic() < deadline:  # noqa: ASYNC110 - bounded, and only at the end
            await asyncio.sleep(0.02)
        turns = asyncio.Semaphore(STORED_AT_ONCE)
        stored_by = time.monotonic() + min(STORE_S, self._settings.listen.shutdown_grace_s / 2)
        leaving = [self._send_away(session, turns, stored_by) for session in self._sessions]
        await asyncio.gather(*leaving, return_exceptions=True)

    async def _send_away(self, session: Session, turns: asyncio.Semaphore, stored_by: float) -> None:
        """Closes a stream once what its return needs is stored: its client may be back at once.

        Args:
            stored_by: when its client is sent away at the latest, in seconds of the monotonic clock.
        """
        async with turns:
            if session.closed:
                return
            storing = self._end_delivery(session)
            await asyncio.wait({storing}, timeout=max(0.0, stored_by - time.monotonic()))
            session.sender.end(SERVICE_RESTART, "the server is shutting down; reconnect")
        await self._finish(session, storing)

    async def sweep(self) -> None:
        """Runs until cancelled: cuts stalled readers, ends streams of revoked tokens, drops idle channels."""
        while True:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            await self._look_at_all()
            if self._bus:
                await self._bus.sweep()

    async def _look_at_all(self) -> None:
        """In a function of its own, whose frame keeps no session until the next sweep."""
        revoked: dict[str, bool] = {}
        async for session in in_steps([*self._sessions]):
            if session in self._sessions:
                self._look_at(session, time.monotonic(), revoked)

    def _look_at(self, session: Session, now: float, revoked: dict[str, bool]) -> None:
        """Ends a stream that is not to go on.

        Args:
            revoked: whether tokens are, as far as this sweep has looked.
        """
        if session.resumed is not None and session.resumed.until < now:
            session.resumed = None
        if session.sender.stalled_s(now) > self._settings.events.stalled_after_s:
            log.info("stream.stalled", session=session.id)
            session.sender.abort()
        if session.revoked:
            return
        if (is_revoked := revoked.get(session.token)) is None:
            is_revoked = revoked[session.token] = self._revoked(session.token, session.identity)
        if is_revoked:
            session.revoked = True
            end_revoked(session, self.drain_s)
        elif self._lost_its_project(session):
            session.revoked = True
            end_revoked(session, 0)

    @property
    def drain_s(self) -> float:
        """How long streams, and other connections, have to move on when the server ends."""
        return min(self._settings.events.drain_s, self._settings.listen.shutdown_grace_s / 2)
