"""Delivers events to the sessions that subscribe to them: the hot path.

Subscriptions are found by audience and name, so an event costs what its receivers
cost. Sessions that subscribe alike share an entry, whose scope is compared once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from onair_api.access.audiences import AudienceKey
from onair_api.event.event import LAYOUT_FAMILY, Event
from onair_api.event.names import pattern
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream.session import Session
from onair_api.event.subscription import Subscription
from onair_api.metrics import EVENTS_IN, EVENTS_OUT, STREAM_SUBSCRIPTIONS

Sessions = dict[Session, None]
"""A set in the order of subscription."""


@dataclass(slots=True)
class _Audience:
    """All subscriptions under one key."""

    exact: dict[str, dict[Subscription, Sessions]] = field(default_factory=dict)
    """By name: those without a wildcard."""
    wild: dict[Subscription, Sessions] = field(default_factory=dict)

    def add(self, subscription: Subscription, session: Session) -> None:
        for group in self._groups(subscription):
            group.setdefault(subscription, {})[session] = None

    def remove(self, subscription: Subscription, session: Session) -> None:
        for group in self._groups(subscription):
            sessions = group.get(subscription, {})
            sessions.pop(session, None)
            if not sessions:
                group.pop(subscription, None)
        for name in pattern(subscription.name).exact:
            if not self.exact.get(name, True):
                del self.exact[name]

    def receivers(self, event: Event) -> list[Sessions]:
        exact = self.exact.get(event.name)
        found = [s for each, s in exact.items() if each.covers(event.target)] if exact else []
        return found + [sessions for each, sessions in self.wild.items() if each.takes(event)]

    def _groups(self, subscription: Subscription) -> list[dict[Subscription, Sessions]]:
        compiled = pattern(subscription.name)
        if compiled.wild:
            return [self.wild]
        return [self.exact.setdefault(name, {}) for name in compiled.exact]

    def __bool__(self) -> bool:
        return bool(self.exact or self.wild)


def send(session: Session, event: Event) -> None:
    """Sends an event to a session that is to have it."""
    sender = session.sender
    reduced = not session.visibility.sees_addresses
    sender.push(event.frame_for(session.origin, sender.format, reduced=reduced), event)


class Delivery:
    def __init__(self, buffer: ReplayBuffer) -> None:
        self._buffer = buffer
        self._audiences: dict[AudienceKey, _Audience] = {}

    @property
    def idle(self) -> bool:
        """Whether there is no subscription."""
        return not self._audiences

    def deliver(self, event: Event) -> None:
        """Sends an event to every session here that is to have it, and keeps it for those that reconnect."""
        EVENTS_IN.labels(event.family).inc()
        self._buffer.add(event, time.time())
        count = 0
        for session in self._receivers(event):
            if session.resumed is not None and session.resumed.has(event):
                continue
            send(session, event)
            count += 1
        event.drop_frames()
        if count:
            EVENTS_OUT.inc(count)

    def add(self, session: Session, subscription: Subscription) -> None:
        STREAM_SUBSCRIPTIONS.inc()
        for key in session.visibility.keys:
            self._audiences.setdefault(key, _Audience()).add(subscription, session)

    def remove(self, session: Session, subscription: Subscription) -> None:
        STREAM_SUBSCRIPTIONS.dec()
        for key in session.visibility.keys:
            audience = self._audiences.get(key)
            if audience is None:
                continue
            audience.remove(subscription, session)
            if not audience:
                del self._audiences[key]

    def _receivers(self, event: Event) -> Iterable[Session]:
        """The sessions that receive an event, each once."""
        found = [
            sessions
            for key in event.audiences
            if (audience := self._audiences.get(key))
            for sessions in audience.receivers(event)
        ]
        everyone: Sessions = found[0] if len(found) == 1 else {s: None for group in found for s in group}
        if event.family == LAYOUT_FAMILY:
            return [session for session in everyone if session.visibility.sees_layouts]
        return list(everyone)
