"""Where an event belongs, and which subscriptions reach it. Pure.

The rules are `operations.md`, "Event operations", Matching. An event's level is
the narrowest id that it has; one without any belongs to its user's sessions.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Ids of a scope: as a client names them, or completed upwards (layout, its project, its collection)."""

    collection_id: str | None = None
    project_id: str | None = None
    layout_id: str | None = None

    def __bool__(self) -> bool:
        return bool(self.collection_id or self.project_id or self.layout_id)

    def json(self) -> dict[str, str]:
        """The EventTarget of `interface.md`."""
        ids = {
            "collectionId": self.collection_id,
            "projectId": self.project_id,
            "layoutId": self.layout_id,
        }
        return {name: value for name, value in ids.items() if value is not None}


def reaches(named: Target, whole: Target, event: Target) -> bool:
    """Whether a subscription receives an event.

    Args:
        named: the ids that the subscription names.
        whole: the same, completed upwards.
        event: the event's target, completed upwards.
    """
    if not named or not event:
        return True
    ids = (
        (named.collection_id, whole.collection_id, event.collection_id),
        (named.project_id, whole.project_id, event.project_id),
        (named.layout_id, whole.layout_id, event.layout_id),
    )
    if any(asked and has and asked != has for asked, _, has in ids):
        return False
    if all(has for asked, _, has in ids if asked):
        return True
    # It names a narrower id than the event has: the event is of a scope above it.
    asked, above, has = next(each for each in reversed(ids) if each[2])
    return not asked and above == has
