"""Replays what a session missed between two connections, once. See docs/decisions/0013."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator

from onair_api.access.audiences import Visibility
from onair_api.event.event import LAYOUT_FAMILY, Event, Position
from onair_api.event.replay.closed_session_position import ClosedSession, ResumedSession, Unsent
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.replay.session_store import SessionStore
from onair_api.event.subscription import Subscription
from onair_api.event.subscription_index import index_of

LOOKS = 2
"""An event is looked at for so many subscriptions of a session: those of real clients overlap little."""


class TooManyEvents(Exception):
    """No more events are looked at for a session."""


class Replayer:
    """Keeps closed sessions, and finds what they missed when they come back."""

    def __init__(self, buffer: ReplayBuffer, store: SessionStore, keep_s: float) -> None:
        self._buffer = buffer
        self._store = store
        self._keep_s = keep_s

    def closed_session(
        self,
        visibility: Visibility,
        subscriptions: Collection[Subscription],
        resumed: ResumedSession | None,
        sources: Iterable[str],
        unsent: Unsent,
        behind_s: float,
    ) -> ClosedSession | None:
        """Describes a session that closes now, to be kept; None if there is nothing that it could miss.

        Args:
            resumed: what it came back with.
            sources: all that order its events.
            unsent: what its reader has not taken.
            behind_s: for how long the watches had no contact.
        """
        if subscriptions:
            positions = self._positions(sources, unsent.events)
            if resumed:  # the other replica may have been ahead of this one
                before = resumed.closed.positions
                positions = {s: max(p, before.get(s, p)) for s, p in positions.items()}
            lost = unsent.loss or (resumed is not None and self._has_more(resumed, visibility))
            return ClosedSession(positions, list(subscriptions), time.time() - behind_s, lost)
        return resumed.closed if resumed and not resumed.given and resumed.until > time.monotonic() else None

    async def keep(self, user_id: str, session_id: str, closed: ClosedSession) -> None:
        await self._store.keep(user_id, session_id, closed)

    async def resume(self, user_id: str, session_id: str) -> ResumedSession | None:
        """The closed session of this user and id, if there is one."""
        closed = await self._store.take(user_id, session_id)
        return ResumedSession(closed, time.monotonic() + self._keep_s) if closed else None

    def is_complete(self, closed: ClosedSession) -> bool:
        """Returns whether all events that it was not sent are still here."""
        return not closed.lost and all(
            self._buffer.covers(source, position, closed.at) for source, position in closed.positions.items()
        )

    def missed(
        self,
        resumed: ResumedSession,
        visibility: Visibility,
        subscription: Subscription,
    ) -> Iterator[Event]:
        """Yields the missed events that a new subscription and the closed session's subscriptions take.

        Those that an earlier one was given are left out.

        Raises:
            TooManyEvents: the session's subscriptions overlap so much that no more is looked at.
        """
        found = self._buffer.find(visibility.keys, subscription)
        resumed.looked_at += found.size
        if resumed.looked_at > LOOKS * self._buffer.max_events:
            raise TooManyEvents
        had = index_of(resumed.given) if found.size else None
        resumed.given.append(subscription)
        for event in found.after(resumed.closed.positions):
            if (
                (visibility.sees_layouts or event.family != LAYOUT_FAMILY)
                and resumed.closed.takes(event)
                and not (had and had.takes(event.name, event.target))
            ):
                yield event

    def _has_more(self, resumed: ResumedSession, visibility: Visibility) -> bool:
        """Whether a session missed more than it was given, as it went before it had all its subscriptions."""
        if resumed.until < time.monotonic():
            return False
        left = set(resumed.closed.subscriptions).difference(resumed.given)
        given = index_of(resumed.given)
        for subscription in left:
            found = self._buffer.find(visibility.keys, subscription)
            resumed.looked_at += found.size
            if resumed.looked_at > LOOKS * self._buffer.max_events:
                return True
            for event in found.after(resumed.closed.positions):
                if (visibility.sees_layouts or event.family != LAYOUT_FAMILY) and not given.takes(
                    event.name, event.target
                ):
                    return True
        return False

    def _positions(self, sources: Iterable[str], unsent: Iterable[Event]) -> dict[str, Position]:
        """Positions that a session reached: this replica's, except for events that wait for its reader."""
        positions = {source: p for source in sources if (p := self._buffer.position(source)) is not None}
        for event in unsent:
            if event.source in positions:
                before = Position(event.position.number, event.position.part - 1)
                positions[event.source] = min(positions[event.source], before)
        return positions
