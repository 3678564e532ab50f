"""The events of the last minute, kept for sessions that reconnect."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from onair_api.access.audiences import AudienceKey
from onair_api.event.event import Event, Position
from onair_api.event.replay.event_index import Comparing, EventIndex, Numbered, unlimited
from onair_api.event.subscription import Subscription

DELAY_S = 1.0
"""How much later than it closed a session may be stored, and than the change a watch may deliver."""


class Start(NamedTuple):
    """The place from which on the events of a source are kept."""

    position: Position
    at: float


@dataclass(frozen=True)
class Found:
    """Kept events, not looked at one by one yet."""

    parts: list[deque[Numbered]]
    """Each in order of arrival, of one name and one target; they may overlap."""

    @property
    def size(self) -> int:
        return sum(map(len, self.parts))

    def where(self, taken: Callable[[Event], bool]) -> Found:
        """Those whose name and target are taken."""
        return Found([part for part in self.parts if taken(part[0][1])])

    def after(self, positions: Mapping[str, Position]) -> Iterator[Event]:
        """Those of the named sources after their positions, in order of arrival."""
        reached = dict(positions)
        for _, event in sorted({number: event for part in self.parts for number, event in part}.items()):
            position = reached.get(event.source)
            if position is not None and event.position > position:
                reached[event.source] = event.position
                yield event


class ReplayBuffer:
    """Bounded by age, number and bytes. `covers` says whether all events after a position are still there.

    All times are in seconds of the monotonic clock.
    """

    def __init__(self, max_age_s: float, max_events: int, max_bytes: int) -> None:
        self._max_age_s = max_age_s
        self.max_events = max_events
        self._max_bytes = max_bytes
        self._events: deque[tuple[float, Event]] = deque()
        self._index = EventIndex()
        self._bytes = 0
        self._starts: dict[str, Start] = {}
        self._evicted: dict[str, Position] = {}
        self._last: dict[str, Position] = {}
        self._went_back: dict[str, float] = {}
        """When sources did last."""

    def start(self, source: str, position: Position, at: float) -> None:
        """Begins with a source: from here on every event of it is added."""
        self._starts[source] = Start(position, at)
        self._last[source] = position

    def forget(self, source: str) -> None:
        """The source is not followed any more."""
        for each in (self._starts, self._evicted, self._last, self._went_back):
            each.pop(source, None)

    def add(self, event: Event, at: float) -> None:
        self._events.append((at, event))
        self._bytes += event.size
        self._index.add(event)
        self.advance(event.source, event.position)
        while self._events and self._exceeds_bounds(at):
            _, oldest = self._events.popleft()
            self._bytes -= oldest.size
            self._index.remove_oldest(oldest)
            if oldest.source in self._starts:
                # One that was lost may be further
                last = self._evicted.get(oldest.source, oldest.position)
                self._evicted[oldest.source] = max(oldest.position, last)

    def advance(self, source: str, position: Position) -> None:
        """The source got to this position, with or without an event."""
        if source in self._starts:
            self._last[source] = max(position, self._last[source])

    def lose(self, source: str, position: Position) -> None:
        """An event of the source is not kept, though somebody may have missed it."""
        if source in self._starts:
            self._evicted[source] = max(position, self._evicted.get(source, position))
            self.advance(source, position)

    def go_back(self, source: str, position: Position, at: float) -> None:
        """The source counts from a lower position on: whoever was there before may have missed something."""
        if source not in self._last:
            return
        self._events = deque(each for each in self._events if each[1].source != source)
        self._bytes = sum(event.size for _, event in self._events)
        self._index = EventIndex()
        for _, event in self._events:
            self._index.add(event)
        self._evicted.pop(source, None)
        self._went_back[source] = at
        self.start(source, position, at)

    def is_void(self, source: str, position: Position, at: float) -> bool:
        """Whether a position is of before the source went back, as far as can be told.

        Args:
            at: when somebody was at this position. Other replicas may have noticed later.
        """
        went_back = self._went_back.get(source)
        if went_back is None:
            return False
        return at < went_back + DELAY_S or position > self._last.get(source, position)

    def position(self, source: str) -> Position | None:
        """The latest position of a source; None if it is not followed."""
        return self._last.get(source)

    def covers(self, source: str, position: Position, at: float) -> bool:
        """Returns whether nothing after `position` is missing.

        Args:
            at: when the source was at this position and no further. A quiet source does not count up, so a
                buffer that started after the position but before this time is complete too.
        """
        start, evicted = self._starts.get(source), self._evicted.get(source)
        if self.is_void(source, position, at):
            return False
        if start is None or (evicted is not None and evicted > position):
            return False
        return start.position <= position or start.at <= at - DELAY_S

    def find(
        self,
        audiences: Collection[AudienceKey],
        subscription: Subscription,
        comparing: Comparing = unlimited,
    ) -> Found:
        """The events that a subscription of sessions of these audiences takes."""
        return Found(self._index.find(audiences, subscription, comparing))

    def _exceeds_bounds(self, now: float) -> bool:
        oldest, _ = self._events[0]
        return (
            now - oldest > self._max_age_s
            or len(self._events) > self.max_events
            or self._bytes > self._max_bytes
        )
