"""Who subscribed to what: found by audience and name, so that an event touches only those it is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onair_api.access.audiences import LAYOUT_FAMILY, Key
from onair_api.access.target import Target, reaches
from onair_api.event.event import Event
from onair_api.event.names import pattern
from onair_api.metrics import STREAM_SUBSCRIPTIONS

if TYPE_CHECKING:
    from onair_api.event.stream.session import Session


@dataclass(frozen=True, slots=True)
class Subscription:
    name: str
    """Exact names and wildcards, separated by `|`."""
    named: Target
    whole: Target
    """The same ids, completed upwards."""

    def takes(self, event: Event) -> bool:
        return reaches(self.named, self.whole, event.target) and pattern(self.name).matches(event.name)


Sessions = dict["Session", None]
"""A set in the order of subscription."""


@dataclass(slots=True)
class _Audience:
    """All subscriptions under one key. Sessions that subscribed alike share an entry, judged once."""

    exact: dict[str, dict[Subscription, Sessions]] = field(default_factory=dict)
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
        found = (
            [s for each, s in exact.items() if reaches(each.named, each.whole, event.target)] if exact else []
        )
        return found + [sessions for each, sessions in self.wild.items() if each.takes(event)]

    def _groups(self, subscription: Subscription) -> list[dict[Subscription, Sessions]]:
        compiled = pattern(subscription.name)
        if compiled.wild:
            return [self.wild]
        return [self.exact.setdefault(name, {}) for name in compiled.exact]

    def __bool__(self) -> bool:
        return bool(self.exact or self.wild)


class Subscriptions:
    def __init__(self) -> None:
        self._audiences: dict[Key, _Audience] = {}

    def add(self, session: Session, subscription: Subscription) -> None:
        STREAM_SUBSCRIPTIONS.inc()
        for key in session.reach.keys:
            self._audiences.setdefault(key, _Audience()).add(subscription, session)

    def remove(self, session: Session, subscription: Subscription) -> None:
        STREAM_SUBSCRIPTIONS.dec()
        for key in session.reach.keys:
            audience = self._audiences.get(key)
            if audience is None:
                continue
            audience.remove(subscription, session)
            if not audience:
                del self._audiences[key]

    def receivers(self, event: Event) -> Iterable[Session]:
        """The sessions that receive an event, each once."""
        found = [
            sessions
            for key in event.audiences
            if (audience := self._audiences.get(key))
            for sessions in audience.receivers(event)
        ]
        everyone: Sessions = found[0] if len(found) == 1 else {s: None for group in found for s in group}
        if event.family == LAYOUT_FAMILY:
            return [session for session in everyone if session.reach.sees_layouts]
        return list(everyone)
