"""Delivers events to the sessions that subscribe to them: the hot path.

Subscriptions are found by audience, scope and name, so an event costs what its receivers
cost, however many others subscribe.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from onair_api.access.audiences import AudienceKey
from onair_api.access.target import Target
from onair_api.event.event import LAYOUT_FAMILY, Event
from onair_api.event.names import pattern
from onair_api.event.replay.closed_session_position import Unsent
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream.fair_turns import FairTurns
from onair_api.event.stream.session import Session
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.subscription import Subscription
from onair_api.event.subscription_index import Receivers, SubscriptionIndex
from onair_api.metrics import EVENTS_DROPPED, EVENTS_IN, EVENTS_OUT, STREAM_SUBSCRIPTIONS


def send(session: Session, event: Event) -> None:
    """Sends an event to a session that is to have it."""
    sender = session.sender
    reduced = not session.visibility.sees_addresses
    sender.push(event.frame_for(session.origin, sender.format, reduced=reduced), event)


def _had(session: Session, event: Event) -> bool:
    """Whether it received the event before it came back."""
    return session.resumed is not None and session.resumed.has(event)


def _wanted(session: Session, event: Event) -> bool:
    return not session.closed and not _had(session, event)


def _send_live(session: Session, event: Event) -> None:
    send(session, event)
    EVENTS_OUT.inc()


def _who_may_see(event: Event, sessions: Iterable[Session]) -> list[Session]:
    return [each for each in sessions if event.family != LAYOUT_FAMILY or each.visibility.sees_layouts]


class EventDelivery:
    def __init__(self, buffer: ReplayBuffer, limits: SubscriptionLimits, bytes_per_owner_s: int = 0) -> None:
        """
        Args:
            bytes_per_owner_s: of events for an owner's many streams, a second; 0: no limit.
        """
        self._buffer = buffer
        self._limits = limits
        self._audiences: dict[AudienceKey, SubscriptionIndex[Session]] = {}
        self._listening: dict[str, Counter[Session]] = {}
        """How many subscriptions sessions have, by the users whose custom events are for them."""
        self._turns = FairTurns(_send_live, _wanted, bytes_per_owner_s)

    @property
    def idle(self) -> bool:
        """Whether there is no subscription, and nothing to be sent."""
        return not self._audiences and not self._listening and self._limits.idle and self._turns.idle

    def deliver(self, event: Event) -> None:
        """Sends an event to every session here that is to have it, and keeps it for those that reconnect.

        Many get it one after another, while others have their turns.
        """
        EVENTS_IN.labels(event.family).inc()
        self._buffer.add(event, time.monotonic())
        receivers = self._receivers(event)
        if self._turns.must_wait(receivers):
            self._turns.add(event, receivers)
            return
        for session in receivers:
            if _wanted(session, event):
                _send_live(session, event)
        event.drop_frames()

    def lose(self, event: Event) -> None:
        """Tells all that an event may be for that events were lost: nobody can say who may see it."""
        EVENTS_DROPPED.labels("unknown_audience").inc()
        self._buffer.lose(event.source, event.position)
        found = {
            session: None
            for audience in self._audiences.values()
            for sessions in audience.find(event.name, Target())
            for session in sessions
        }
        self._turns.lose(_who_may_see(event, found))

    def lose_of(self, user_id: str) -> None:
        """Tells all who listen to a user's custom events that some were lost."""
        EVENTS_DROPPED.labels("redis").inc()
        self._turns.lose(self._listening.get(user_id, ()))

    def unsent(self, session: Session) -> Unsent:
        """What waits for a session which is closing: it gets that no more."""
        queued, waiting = session.sender.withdraw(), self._turns.take(session)
        events = [event for event in waiting.events if not _had(session, event)]
        return Unsent([*queued.events, *events], queued.loss or waiting.loss)

    def send_missed(self, session: Session, events: Iterable[Event]) -> bool:
        """Sends what a session missed before it came back, out of its owner's bandwidth.

        Returns:
            Whether all were sent; the rest exceeds the bandwidth, and is lost.
        """
        missed = enumerate(events)
        for number, event in missed:
            if not self._turns.may_send(session.owner):
                EVENTS_DROPPED.labels("too_many").inc(1 + sum(1 for _ in missed))
                return False
            if not number:  # what waits for its turn came before
                self._turns.send_rest(session)
            send(session, event)
            self._turns.spend(session.owner, event.size)
        return True

    def check(self, session: Session, name: str) -> None:
        """Checks that a session may have one more subscription.

        Raises:
            ResourceExhausted: with this subscription there would be too many.
        """
        wild = pattern(name).wild
        audiences = (self._audiences.get(key) for key in session.visibility.keys)
        compared = (audience.wild_patterns_with(wild) for audience in audiences if audience)
        self._limits.check(session, name, max(compared, default=len(wild)))

    def add(self, session: Session, subscription: Subscription) -> None:
        STREAM_SUBSCRIPTIONS.inc()
        self._limits.add(session.token, subscription.name)
        for key in session.visibility.keys:
            self._audiences.setdefault(key, SubscriptionIndex()).add(subscription, session)
        for user_id in session.channels:
            self._listening.setdefault(user_id, Counter())[session] += 1

    def remove(self, session: Session, subscription: Subscription) -> None:
        self._turns.send_rest(session)
        STREAM_SUBSCRIPTIONS.dec()
        self._limits.remove(session.token, subscription.name)
        for key in session.visibility.keys:
            audience = self._audiences.get(key)
            if audience is None:
                continue
            audience.remove(subscription, session)
            if not audience:
                del self._audiences[key]
        for user_id in session.channels:
            listening = self._listening.get(user_id, Counter())
            listening[session] -= 1
            if not listening[session]:
                del listening[session]
            if not listening:
                self._listening.pop(user_id, None)

    def _receivers(self, event: Event) -> list[Session]:
        """The sessions that receive an event, each once."""
        found = [
            sessions
            for key in event.audiences
            if (audience := self._audiences.get(key))
            for sessions in audience.find(event.name, event.target)
        ]
        everyone: Receivers[Session] = (
            found[0] if len(found) == 1 else {s: 1 for group in found for s in group}
        )
        return _who_may_see(event, everyone)
