"""Matches one subscription with events: by name and target. Pure.

The rules are `operations.md`, "Event operations", Matching. An event's level is
the narrowest id of its target; one without any belongs to its user's sessions.
"""

from __future__ import annotations

from dataclasses import dataclass

from onair_api.access.target import Target
from onair_api.event.event import Event
from onair_api.event.names import pattern


@dataclass(frozen=True, slots=True)
class Subscription:
    name: str
    """Exact names and wildcards, separated by `|`."""
    named: Target
    """The ids that the client gave."""
    complete: Target
    """The same with those above them."""

    def takes(self, event: Event) -> bool:
        return self.covers(event.target) and pattern(self.name).matches(event.name)

    def covers(self, target: Target) -> bool:
        """Returns whether events of a complete target are in its scope."""
        return covers(self.named, self.complete, target)


def covers(named: Target, complete: Target, event: Target) -> bool:
    """Returns whether an event is in a subscription's scope.

    Args:
        named: the ids that the subscription names.
        complete: the same with those above them.
        event: the event's complete target.
    """
    if not named or not event:
        return True
    ids = (
        (named.collection_id, complete.collection_id, event.collection_id),
        (named.project_id, complete.project_id, event.project_id),
        (named.layout_id, complete.layout_id, event.layout_id),
    )
    if any(asked and has and asked != has for asked, _, has in ids):
        return False
    if all(has for asked, _, has in ids if asked):
        return True
    # It names a narrower id than the event has: the event is of a scope above it.
    asked, above, has = next(each for each in reversed(ids) if each[2])
    return not asked and above == has
