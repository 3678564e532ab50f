"""Replays what a session missed between two connections, once. See docs/decisions/0013."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from onair_api.access.audiences import Visibility
from onair_api.event.event import LAYOUT_FAMILY, Event, Position
from onair_api.event.replay.closed_session_position import ClosedSession, ResumedSession, Unsent
from onair_api.event.replay.recent_events import Found, ReplayBuffer
from onair_api.event.replay.session_store import SessionStore
from onair_api.event.subscription import Subscription
from onair_api.event.subscription_index import SubscriptionIndex

LOOKS = 2
"""An event is looked at for so many subscriptions of a session: those of real clients overlap little."""
COMPARISONS = 16
"""Of names with patterns: they take as long as a look at one event."""


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
                before = self._valid_positions(resumed.closed)
                positions = {s: max(p, before.get(s, p)) for s, p in positions.items()}
            lost = unsent.loss or (resumed is not None and self._has_more(resumed, visibility))
            return ClosedSession(positions, list(subscriptions), time.monotonic() - behind_s, lost)
        return resumed.closed if resumed and not resumed.given and resumed.until > time.monotonic() else None

    async def keep(self, user_id: str, session_id: str, closed: ClosedSession) -> None:
        await self._store.keep(user_id, session_id, closed)

    async def resume(self, user_id: str, session_id: str) -> ResumedSession | None:
        """The closed session of this user and id, if there is one."""
        closed = await self._store.take(user_id, session_id)
        until = time.monotonic() + self._keep_s
        return ResumedSession(closed, until, is_void=self._buffer.is_void) if closed else None

    def is_complete(self, closed: ClosedSession, visibility: Visibility) -> bool:
        """Returns whether all events that it was not sent are still here."""
        return not closed.lost and all(
            self._buffer.covers(source, position, closed.at, visibility.keys)
            for source, position in closed.positions.items()
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
            TooManyEvents: the session's subscriptions overlap so much, or have so many patterns, that no more
                is looked at.
        """
        found = self._find(resumed, visibility, subscription)
        had, closed = resumed.given_index, resumed.closed
        wanted = found.where(
            lambda event: self._takes(resumed, closed.index, event) and not self._takes(resumed, had, event)
        )
        resumed.give(subscription)
        for event in wanted.after(closed.positions):
            if visibility.sees_layouts or event.family != LAYOUT_FAMILY:
                yield event

    def _has_more(self, resumed: ResumedSession, visibility: Visibility) -> bool:
        """Whether a session missed more than it was given, as it went before it had all its subscriptions."""
        if resumed.until < time.monotonic():
            return False
        left = set(resumed.closed.subscriptions).difference(resumed.given)
        given = resumed.given_index
        try:
            for subscription in left:
                found = self._find(resumed, visibility, subscription)
                missed = found.where(lambda event: not self._takes(resumed, given, event))
                for event in missed.after(resumed.closed.positions):
                    if visibility.sees_layouts or event.family != LAYOUT_FAMILY:
                        return True
        except TooManyEvents:
            return True
        return False

    def _find(self, resumed: ResumedSession, visibility: Visibility, subscription: Subscription) -> Found:
        """What a subscription takes, within what one session may have looked at and compared.

        Raises:
            TooManyEvents: it is more than that.
        """
        found = self._buffer.find(visibility.keys, subscription, partial(self._compare, resumed))
        resumed.looked_at += found.size
        self._compare(resumed, 0)
        return found

    def _takes(self, resumed: ResumedSession, index: SubscriptionIndex[None], event: Event) -> bool:
        self._compare(resumed, index.comparisons(event.target))
        return index.takes(event.name, event.target)

    def _compare(self, resumed: ResumedSession, comparisons: int) -> None:
        """Counts comparisons before they are made.

        Raises:
            TooManyEvents: no more are made.
        """
        resumed.compared += comparisons
        if resumed.looked_at + resumed.compared / COMPARISONS > LOOKS * self._buffer.max_events:
            raise TooManyEvents

    def _valid_positions(self, closed: ClosedSession) -> dict[str, Position]:
        return {s: p for s, p in closed.positions.items() if not self._buffer.is_void(s, p, closed.at)}

    def _positions(self, sources: Iterable[str], unsent: Iterable[Event]) -> dict[str, Position]:
        """Positions that a session reached: this replica's, except for events that wait for its reader."""
        positions = {source: p for source in sources if (p := self._buffer.position(source)) is not None}
        for event in unsent:
            if event.source in positions:
                before = Position(event.position.number, event.position.part - 1)
                positions[event.source] = min(positions[event.source], before)
        return positions
