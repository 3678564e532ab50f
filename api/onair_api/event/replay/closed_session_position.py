"""The kept state of a closed session: its position in each source, and its subscriptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from onair_api.access.target import Target
from onair_api.event.event import Event, Position
from onair_api.event.subscription import Subscription
from onair_api.event.subscription_index import SubscriptionIndex, index_of
from onair_crds.shapes import JsonObject


class Unsent(NamedTuple):
    """What waited for a session as it closed."""

    events: list[Event]
    loss: bool = False
    """Whether a report of lost events is among it."""


@dataclass(slots=True)
class ClosedSession:
    """What is kept of a session that has closed, for when it comes back."""

    positions: dict[str, Position]
    """The last that it received of each source."""
    subscriptions: list[Subscription]
    at: float
    """When that was, in seconds of this process's monotonic clock."""
    lost: bool = False
    """Events before were lost to it, and it was not told."""

    _index: SubscriptionIndex[None] | None = field(default=None, compare=False)

    @property
    def index(self) -> SubscriptionIndex[None]:
        """Finds whether its subscriptions take an event."""
        if self._index is None:
            self._index = index_of(self.subscriptions)
        return self._index

    def takes(self, event: Event) -> bool:
        return self.index.takes(event.name, event.target)

    def json(self) -> JsonObject:
        """Encodes all but `at`, which means nothing to another process."""
        return {
            "positions": {source: list(position) for source, position in self.positions.items()},
            "lost": self.lost,
            "subscriptions": [
                [each.name, *_ids(each.named), *_ids(each.complete)] for each in self.subscriptions
            ],
        }

    @classmethod
    def from_json(cls, value: JsonObject, at: float) -> ClosedSession:
        """Decodes what `json` encoded.

        Raises:
            ValueError, KeyError, TypeError: it was not encoded by `json`.
        """
        return cls(
            {source: Position(*position) for source, position in value["positions"].items()},
            [Subscription(name, Target(*ids[:3]), Target(*ids[3:])) for name, *ids in value["subscriptions"]],
            at,
            bool(value.get("lost")),  # a replica of an earlier version does not say
        )


def _ids(target: Target) -> tuple[str | None, str | None, str | None]:
    return target.collection_id, target.project_id, target.layout_id


IsVoid = Callable[[str, Position, float], bool]


@dataclass(slots=True)
class ResumedSession:
    """A closed session that came back and is being given what it missed."""

    closed: ClosedSession
    until: float
    """When replay for it ends, in seconds of the monotonic clock: events are kept no longer."""
    loss_reported: bool = False
    given: list[Subscription] = field(default_factory=list)
    """New subscriptions that were given what they missed."""
    looked_at: int = 0
    """How many events were looked at for it."""
    compared: int = 0
    """How many comparisons were made for it."""

    is_void: IsVoid = lambda *_: False
    """Whether a position is of before its source went back."""

    given_index: SubscriptionIndex[None] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.given_index = index_of(self.given)

    def give(self, subscription: Subscription) -> None:
        """Notes that a new subscription is given what it missed."""
        self.given.append(subscription)
        self.given_index.add(subscription, None)

    def has(self, event: Event) -> bool:
        """Returns whether it received a live event before it closed: this replica may be behind the other."""
        position = self.closed.positions.get(event.source)
        if position is None or event.position > position or not self.closed.takes(event):
            return False
        return not self.is_void(event.source, position, self.closed.at)
