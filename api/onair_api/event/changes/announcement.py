"""What a change has to say, before it becomes an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onair_api.access.target import Target

CREATE, UPDATE, DELETE = "create", "update", "delete"
ADD, REMOVE, STATE, BATCH = "add", "remove", "state", "batch"


@dataclass(frozen=True)
class Told:
    type: str
    """`collection`, `project`, `source`, `destination`, `layout` or `layer`."""
    sub_type: str
    record: dict[str, Any]
    target: Target
    subject: str = ""
    """Tells apart events of the same change and type: a layer's id, a project's."""
    projects: tuple[str, ...] = ()
    """Projects whose guests see it although it belongs to their collection."""

    def name(self, prefix: str) -> str:
        """The event's name (`operations.md`, Names and payloads of resource-change events)."""
        family = "layout" if self.type in ("layout", "layer") else "live"
        return f"{prefix}:{family}:EVENT_TYPE_{self.type.upper()}:EVENT_SUB_TYPE_{self.sub_type.upper()}"

    @property
    def payload(self) -> dict[str, Any]:
        return {self.type: {self.sub_type: self.record}}
