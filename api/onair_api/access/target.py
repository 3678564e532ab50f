"""The ids that name what an event is about, or what a subscription asks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """An EventTarget (`interface.md`): as a client names it, or complete (with the ids above).

    Its level is the narrowest id that it has.
    """

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
