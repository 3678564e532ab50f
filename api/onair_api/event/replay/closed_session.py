"""What a session that comes back has yet to receive: how far it got, and what it was subscribed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onair_api.access.target import Target
from onair_api.event.event import Event, Position
from onair_api.event.stream.subscriptions import Subscription


@dataclass(slots=True)
class Departure:
    """What is kept of a closed session."""

    positions: dict[str, Position]
    """How far it got in each source."""
    subscriptions: list[Subscription]
    at: float
    """When that was, in seconds since the epoch."""

    def wanted(self, event: Event) -> bool:
        return any(each.takes(event) for each in self.subscriptions)

    def json(self) -> dict[str, Any]:
        return {
            "positions": {source: list(position) for source, position in self.positions.items()},
            "at": self.at,
            "subscriptions": [[s.name, *(_ids(s.named)), *(_ids(s.whole))] for s in self.subscriptions],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Departure:
        return cls(
            {source: Position(*position) for source, position in value["positions"].items()},
            [Subscription(name, Target(*ids[:3]), Target(*ids[3:])) for name, *ids in value["subscriptions"]],
            float(value["at"]),
        )


def _ids(target: Target) -> tuple[str | None, str | None, str | None]:
    return target.collection_id, target.project_id, target.layout_id


@dataclass(slots=True)
class Resume:
    """A departure that is being made good."""

    departure: Departure
    until: float
    """When it ends, in seconds of the monotonic clock: what was kept is kept no longer."""
    told_of_loss: bool = False

    def has(self, event: Event) -> bool:
        """Whether the session received a live event before it left: this replica may be behind the other."""
        position = self.departure.positions.get(event.source)
        return position is not None and event.position <= position and self.departure.wanted(event)
