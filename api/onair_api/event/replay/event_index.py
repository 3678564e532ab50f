"""Finds kept events by who may see them, by scope and by name, without looking at the others. Pure.

It is the subscriptions' index the other way round: there an event finds those who subscribe to it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Collection, Iterator

from onair_api.access.audiences import AudienceKey
from onair_api.access.target import Target
from onair_api.event.event import Event
from onair_api.event.names import WildPattern, matches_wild, pattern
from onair_api.event.subscription import Subscription
from onair_api.event.subscription_index import Scope, scopes_around, scopes_of

Numbered = tuple[int, Event]
"""An event, and the how-many-th it was."""

Comparing = Callable[[int], None]
"""Is called with how many comparisons come next; raises what ends the search if they are too many."""

GROUP = 4
"""To look into a group takes as long as so many comparisons."""
KEPT_PATTERNS, KEPT_NAMES = 64, 16
"""Of a group: what so many patterns match among so many names, or more, is kept until the names change."""


def unlimited(comparisons: int) -> None:
    """Lets any number of comparisons be made."""


class EventIndex:
    """An index of events. Of one audience and target those that were added first are removed first."""

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

    def remove(self, event: Event) -> None:
        """Removes an event; it takes longer if there are older ones of its audiences and target."""
        for audience in event.audiences:
            key = audience, event.target
            group = self._groups[key]
            group.remove(event)
            if group:
                continue
            del self._groups[key]
            for scope in scopes_around(event.target):
                groups = self._scopes.get((audience, scope), {})
                groups.pop(key, None)
                if not groups:
                    self._scopes.pop((audience, scope), None)

    def find(
        self,
        audiences: Collection[AudienceKey],
        subscription: Subscription,
        comparing: Comparing = unlimited,
    ) -> list[deque[Numbered]]:
        """What a subscription of these audiences takes, in parts that are in order and may overlap.

        Each part has events of one name and one target.
        """
        cost = GROUP + pattern(subscription.name).size
        groups: dict[tuple[AudienceKey, Target], _Group] = {}
        for audience in audiences:
            for scope in scopes_of(subscription):
                if found := self._scopes.get((audience, scope)):
                    comparing(cost * len(found))
                    groups.update(found)
        return [events for group in groups.values() for events in group.find(subscription.name, comparing)]


class _Group:
    """Events of one audience and one target, by their names."""

    def __init__(self) -> None:
        self._events: dict[str, deque[Numbered]] = {}
        self._names: list[str] = []
        """Sorted, so that those with a prefix stand side by side."""
        self._matches: dict[WildPattern, list[str]] = {}
        """The names that patterns match. Many subscriptions, and many sessions, have the same patterns."""

    def __bool__(self) -> bool:
        return bool(self._events)

    def add(self, number: int, event: Event) -> None:
        events = self._events.get(event.name)
        if events is None:
            events = self._events[event.name] = deque()
            insort(self._names, event.name)
            self._matches.clear()
        events.append((number, event))

    def remove(self, event: Event) -> None:
        name = event.name
        events = self._events[name]
        # By identity: an event may have been added twice
        del events[next(place for place, (_, each) in enumerate(events) if each is event)]
        if not events:
            del self._events[name]
            del self._names[bisect_left(self._names, name)]
            self._matches.clear()

    def find(self, text: str, comparing: Comparing) -> Iterator[deque[Numbered]]:
        compiled = pattern(text)
        found = dict.fromkeys(name for name in compiled.exact if name in self._events)
        last: str | None = None
        for prefix in sorted(compiled.prefixes):
            # What begins with a longer one was found by the shorter one
            if last is None or not prefix.startswith(last):
                found.update(dict.fromkeys(self._with_prefix(prefix)))
                last = prefix
        for pieces in compiled.wild:
            found.update(dict.fromkeys(self._matched(pieces, comparing)))
        return (self._events[name] for name in found)

    def _with_prefix(self, prefix: str) -> list[str]:
        names = self._names
        if not prefix:
            return names
        start = bisect_left(names, prefix)
        if start == len(names) or not names[start].startswith(prefix):
            return []
        return names[start : bisect_left(names, True, start, key=lambda name: not name.startswith(prefix))]

    def _matched(self, pieces: WildPattern, comparing: Comparing) -> list[str]:
        matched = self._matches.get(pieces)
        if matched is None:
            begin_alike = self._with_prefix(pieces[0])
            comparing(len(begin_alike))
            matched = [name for name in begin_alike if matches_wild(pieces, name)]
            if len(begin_alike) >= KEPT_NAMES:
                if len(self._matches) >= KEPT_PATTERNS:
                    self._matches.clear()
                self._matches[pieces] = matched
        return matched
