"""One change of a resource, as its watch showed it."""

from __future__ import annotations

from dataclasses import dataclass

from onair_api.event.event import Position
from onair_api.writes.request_note import StoredNote
from onair_crds.kube.store import Entry


@dataclass(frozen=True, slots=True)
class ResourceChange:
    kind: str
    before: Entry | None
    """The version seen before; None if there was no such object."""
    after: Entry | None
    """None if the object is gone."""
    position: Position
    note: StoredNote | None
    """Of the request that made this change; None if no request through this facade did."""
    deadline: float
    """Until when its announcement may wait for its parent's, in seconds of the monotonic clock."""

    @property
    def entry(self) -> Entry:
        """The latest version."""
        entry = self.after or self.before
        if entry is None:
            raise ValueError("a change without a version")
        return entry
