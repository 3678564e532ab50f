"""What a session missed between two connections, found and given once. See docs/decisions/0013."""

from __future__ import annotations

import time

from onair_api.access.audiences import LAYOUT_FAMILY
from onair_api.errors import DataLoss
from onair_api.event.changes.announcer import KINDS
from onair_api.event.custom.bus import Bus
from onair_api.event.event import Event, Position
from onair_api.event.replay.buffer import Ring
from onair_api.event.replay.closed_session import Departure, Resume
from onair_api.event.replay.session_store import Departures
from onair_api.event.stream.session import Session
from onair_api.event.stream.subscriptions import Subscription


class Reconnects:
    def __init__(self, ring: Ring, bus: Bus | None, departures: Departures, keep_s: float) -> None:
        self._ring = ring
        self._bus = bus
        self._departures = departures
        self._keep_s = keep_s

    def departure(self, session: Session, behind_s: float) -> Departure | None:
        """What is to be kept of a session that closes now; None where it waits for nothing.

        Args:
            behind_s: how long the watches have not been heard.
        """
        resume = session.resume
        if session.subscriptions:
            positions = self._positions(session)
            if resume:  # the other replica may have been ahead of this one
                before = resume.departure.positions
                positions = {s: max(p, before.get(s, p)) for s, p in positions.items()}
            return Departure(positions, list(session.subscriptions.values()), time.time() - behind_s)
        return resume.departure if resume and resume.until > time.monotonic() else None

    async def keep(self, session: Session, departure: Departure) -> None:
        await self._departures.keep(session.reach.user_id, session.id, departure, redis=self._reachable)

    async def resume(self, session: Session) -> None:
        """Looks for the departure of a session of this id and user."""
        departure = await self._departures.take(session.reach.user_id, session.id, redis=self._reachable)
        if departure:
            session.resume = Resume(departure, time.monotonic() + self._keep_s)

    def catch_up(self, session: Session, subscription: Subscription) -> None:
        """Gives what the session would have had in its absence, as far as a new subscription takes it."""
        resume = session.resume
        if resume is None or resume.until < time.monotonic():
            return
        departure = resume.departure
        if not resume.told_of_loss and not self._is_covered(departure):
            resume.told_of_loss = True
            said = "events between the last connection and this one were lost; read the state anew"
            session.reply_error(None, DataLoss(said))
        for event in self._ring.after(departure.positions):
            if (
                _may_see(session, event)
                and subscription.takes(event)
                and departure.wanted(event)
                and not any(each.takes(event) for each in session.subscriptions.values())
            ):
                session.deliver(event)

    def _is_covered(self, departure: Departure) -> bool:
        return all(
            self._ring.covers(source, position, departure.at)
            for source, position in departure.positions.items()
        )

    def _positions(self, session: Session) -> dict[str, Position]:
        """How far a session got: what this replica heard, but for what still waits for the reader."""
        sources = list(KINDS)
        if self._bus:
            sources += [s for user_id in session.channels if (s := self._bus.source(user_id))]
        positions = {source: p for source in sources if (p := self._ring.position(source)) is not None}
        for event in session.outbox.unsent():
            if event.source in positions:
                before = Position(event.position.number, event.position.part - 1)
                positions[event.source] = min(positions[event.source], before)
        return positions

    @property
    def _reachable(self) -> bool:
        return self._bus is not None and self._bus.connected


def _may_see(session: Session, event: Event) -> bool:
    if event.family == LAYOUT_FAMILY and not session.reach.sees_layouts:
        return False
    return not set(session.reach.keys).isdisjoint(event.audiences)
