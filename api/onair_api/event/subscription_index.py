"""Finds the subscriptions that take an event without looking at the others. Pure.

Subscriptions are found by scope, then by name: exact names and prefixes by hash, so that they cost what
matches, however many there are. Only patterns with a wildcard elsewhere are compared one after another; they
are limited (`subscription_limits.py`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from onair_api.access.target import Target
from onair_api.event.names import WildPattern, matches_wild, pattern
from onair_api.event.subscription import Subscription

Receiver = TypeVar("Receiver", bound=Hashable)
_Key = TypeVar("_Key", bound=Hashable)

Receivers = dict[Receiver, int]
"""Those who subscribe alike, in the order of subscription, and how many of their subscriptions do."""

Scope = tuple[str | int | None, str | None, str | None]
"""Under which a subscription is found by events, and an event by subscriptions."""
_EVERY: Scope = (-1, None, None)
"""All subscriptions: what an event without a target is for."""


class SubscriptionIndex(Generic[Receiver]):
    def __init__(self) -> None:
        self._scopes: dict[Scope, _Names[Receiver]] = {}

    def __bool__(self) -> bool:
        return bool(self._scopes)

    def wild_patterns_with(self, more: Iterable[WildPattern]) -> int:
        """How many different patterns would be compared one after another, with some more."""
        names = self._scopes.get(_EVERY)
        wild = names.wild if names else {}
        return len(wild) + sum(1 for each in more if each not in wild)

    def add(self, subscription: Subscription, receiver: Receiver) -> None:
        for scope in scopes_of(subscription):
            self._scopes.setdefault(scope, _Names()).add(subscription.name, receiver)

    def remove(self, subscription: Subscription, receiver: Receiver) -> None:
        """Reverts one `add`; does nothing if there was none."""
        for scope in scopes_of(subscription):
            names = self._scopes.get(scope)
            if names is None:
                continue
            names.remove(subscription.name, receiver)
            if not names:
                del self._scopes[scope]

    def comparisons(self, target: Target) -> int:
        """How many patterns an event is compared with one after another, at the most."""
        return sum(len(names.wild) for scope in scopes_around(target) if (names := self._scopes.get(scope)))

    def takes(self, name: str, target: Target) -> bool:
        """Returns whether any subscription takes an event."""
        return any(
            group
            for scope in scopes_around(target)
            if (names := self._scopes.get(scope))
            for group in names.find(name)
        )

    def find(self, name: str, target: Target) -> list[Receivers[Receiver]]:
        """The receivers of an event, in groups that may overlap.

        Args:
            target: complete, or empty.
        """
        found: list[Receivers[Receiver]] = []
        for scope in scopes_around(target):
            if names := self._scopes.get(scope):
                found.extend(names.find(name))
        return found


def index_of(subscriptions: Iterable[Subscription]) -> SubscriptionIndex[None]:
    """An index of the subscriptions of one session."""
    index: SubscriptionIndex[None] = SubscriptionIndex()
    for each in subscriptions:
        index.add(each, None)
    return index


class _Names(Generic[Receiver]):
    """Subscriptions of one scope, by their names."""

    def __init__(self) -> None:
        self._exact: dict[str, Receivers[Receiver]] = {}
        self._prefixes: dict[str, Receivers[Receiver]] = {}
        self._lengths: list[int] = []
        """Of the prefixes, ascending, each once."""
        self._of_length: dict[int, int] = {}
        """How many prefixes have this length."""
        self.wild: dict[WildPattern, Receivers[Receiver]] = {}

    def __bool__(self) -> bool:
        return bool(self._exact or self._prefixes or self.wild)

    def add(self, text: str, receiver: Receiver) -> None:
        compiled = pattern(text)
        for prefix in compiled.prefixes:
            if prefix not in self._prefixes:
                self._add_length(len(prefix))
        _add(self._exact, compiled.exact, receiver)
        _add(self._prefixes, compiled.prefixes, receiver)
        _add(self.wild, compiled.wild, receiver)

    def remove(self, text: str, receiver: Receiver) -> None:
        compiled = pattern(text)
        _remove(self._exact, compiled.exact, receiver)
        for prefix in _remove(self._prefixes, compiled.prefixes, receiver):
            self._remove_length(len(prefix))
        _remove(self.wild, compiled.wild, receiver)

    def find(self, name: str) -> Iterator[Receivers[Receiver]]:
        if receivers := self._exact.get(name):
            yield receivers
        size = len(name)
        for length in self._lengths:
            if length > size:
                break
            if receivers := self._prefixes.get(name[:length]):
                yield receivers
        for pieces, receivers in self.wild.items():
            if matches_wild(pieces, name):
                yield receivers

    def _add_length(self, length: int) -> None:
        count = self._of_length.get(length, 0)
        self._of_length[length] = count + 1
        if not count:
            insort(self._lengths, length)

    def _remove_length(self, length: int) -> None:
        self._of_length[length] -= 1
        if not self._of_length[length]:
            del self._of_length[length]
            del self._lengths[bisect_left(self._lengths, length)]


def _add(group: dict[_Key, Receivers[Receiver]], keys: Iterable[_Key], receiver: Receiver) -> None:
    for key in keys:
        receivers = group.setdefault(key, {})
        receivers[receiver] = receivers.get(receiver, 0) + 1


def _remove(group: dict[_Key, Receivers[Receiver]], keys: Iterable[_Key], receiver: Receiver) -> list[_Key]:
    """Returns the keys that nobody is under any more."""
    empty: list[_Key] = []
    for key in keys:
        receivers = group.get(key)
        if receivers is None or receiver not in receivers:
            continue
        receivers[receiver] -= 1
        if not receivers[receiver]:
            del receivers[receiver]
        if not receivers:
            del group[key]
            empty.append(key)
    return empty


def _ids(target: Target) -> tuple[str | None, str | None, str | None]:
    return target.collection_id, target.project_id, target.layout_id


def scopes_of(subscription: Subscription) -> Iterator[Scope]:
    """The scopes under which a subscription is found: see `subscription.covers`.

    Those of events at or below what it names are the ids as it names them. Those of events above the
    narrowest id that it names are the event's level, its id, and the collection where it names that.
    """
    named, complete = _ids(subscription.named), _ids(subscription.complete)
    yield _EVERY
    yield named
    if named[0] is None and complete[0] and (named[1] or named[2]):
        yield 0, complete[0], None
    if named[1] is None and complete[1] and named[2]:
        yield 1, complete[1], named[0]


def scopes_around(target: Target) -> Iterator[Scope]:
    """The scopes whose subscriptions take an event."""
    collection_id, project_id, layout_id = _ids(target)
    if not target:
        yield _EVERY
        return
    for layout in _with_none(layout_id):
        for project in _with_none(project_id):
            for collection in _with_none(collection_id):
                yield collection, project, layout
    if layout_id is None and project_id is not None:
        yield 1, project_id, None
        yield 1, project_id, collection_id
    elif layout_id is None:
        yield 0, collection_id, None


def _with_none(value: str | None) -> tuple[str | None, ...]:
    return (None,) if value is None else (None, value)
