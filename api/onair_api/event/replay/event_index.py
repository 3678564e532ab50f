"""Finds kept events by who may see them, by scope and by name, without looking at the others. Pure.

It is the subscriptions' index the other way round: there an event finds those who subscribe to it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Collection, Iterator

from onair_api.access.audiences import AudienceKey
from onair_api.access.target import Target
from onair_api.event.event import Event
from onair_api.event.names import matches_wild, pattern
from onair_api.event.subscription import Subscription
from onair_api.event.subscription_index import Scope, scopes_around, scopes_of

Numbered = tuple[int, Event]
"""An event, and the how-many-th it was."""


class EventIndex:
    """An index of events, which are added at one end and removed at the other."""

    def __init__(self) -> None:
        self._added = 0
        self._groups: dict[tuple[AudienceKey, Target], _Group] = {}
        self._scopes: dict[tuple[AudienceKey, Scope], dict[tuple[AudienceKey, Target], _Group]] = {}

    def __bool__(self) -> bool:
        return bool(self._groups or self._scopes)

    def add(self, event: Event) -> None:
        self._added += 1
        for audience in event.audiences:
            key = audience, event.target
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _Group()
                for scope in scopes_around(event.target):
                    self._scopes.setdefault((audience, scope), {})[key] = group
            group.add(self._added, event)

    def remove_oldest(self, event: Event) -> None:
        """Removes the event that was added before all others."""
        for audience in event.audiences:
            key = audience, event.target
            group = self._groups[key]
            group.remove_oldest(event.name)
            if group:
                continue
            del self._groups[key]
            for scope in scopes_around(event.target):
                groups = self._scopes.get((audience, scope), {})
                groups.pop(key, None)
                if not groups:
                    self._scopes.pop((audience, scope), None)

    def find(self, audiences: Collection[AudienceKey], subscription: Subscription) -> list[deque[Numbered]]:
        """What a subscription of these audiences takes, in parts that are in order and may overlap."""
        groups = {
            key: group
            for audience in audiences
            for scope in scopes_of(subscription)
            for key, group in self._scopes.get((audience, scope), {}).items()
        }
        return [events for group in groups.values() for events in group.find(subscription.name)]


class _Group:
    """Events of one audience and one target, by their names."""

    def __init__(self) -> None:
        self._events: dict[str, deque[Numbered]] = {}
        self._names: list[str] = []
        """Sorted, so that those with a prefix stand side by side."""

    def __bool__(self) -> bool:
        return bool(self._events)

    def add(self, number: int, event: Event) -> None:
        events = self._events.get(event.name)
        if events is None:
            events = self._events[event.name] = deque()
            insort(self._names, event.name)
        events.append((number, event))

    def remove_oldest(self, name: str) -> None:
        events = self._events[name]
        events.popleft()
        if not events:
            del self._events[name]
            del self._names[bisect_left(self._names, name)]

    def find(self, text: str) -> Iterator[deque[Numbered]]:
        compiled = pattern(text)
        found = dict.fromkeys(name for name in compiled.exact if name in self._events)
        for prefix in compiled.prefixes:
            at = bisect_left(self._names, prefix)
            while at < len(self._names) and self._names[at].startswith(prefix):
                found[self._names[at]] = None
                at += 1
        for pieces in compiled.wild:
            found.update(dict.fromkeys(name for name in self._names if matches_wild(pieces, name)))
        return (self._events[name] for name in found)
