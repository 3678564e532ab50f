"""The events of the last minute, kept for those who reconnect."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from onair_api.event.event import Event, Position

CLOCKS_DIFFER_S = 1.0
"""How far the clocks of two replicas may be apart, and a watch's delivery behind the change."""


class Beginning(NamedTuple):
    position: Position
    at: float
    """Seconds since the epoch."""


class Ring:
    """Bounded by age, number and bytes. `covers` says whether all events after a position are still there."""

    def __init__(self, age_s: float, most: int, most_bytes: int) -> None:
        self._age_s = age_s
        self._most = most
        self._most_bytes = most_bytes
        self._events: deque[tuple[float, Event]] = deque()
        self._bytes = 0
        self._begun: dict[str, Beginning] = {}
        self._evicted: dict[str, Position] = {}
        self._last: dict[str, Position] = {}

    def begin(self, source: str, position: Position, at: float) -> None:
        """From here on every event of a source is added."""
        self._begun[source] = Beginning(position, at)
        self._last[source] = position

    def forget(self, source: str) -> None:
        """The source is not heard any more."""
        for each in (self._begun, self._evicted, self._last):
            each.pop(source, None)

    def add(self, event: Event, at: float) -> None:
        self._events.append((at, event))
        self._bytes += len(event.body)
        self.advance(event.source, event.position)
        while self._events and self._overfull(at):
            _, oldest = self._events.popleft()
            self._bytes -= len(oldest.body)
            if oldest.source in self._begun:
                self._evicted[oldest.source] = oldest.position

    def advance(self, source: str, position: Position) -> None:
        """The source got here, with or without an event."""
        if source in self._begun:
            self._last[source] = max(position, self._last[source])

    def position(self, source: str) -> Position | None:
        """How far a source was heard."""
        return self._last.get(source)

    def covers(self, source: str, position: Position, at: float) -> bool:
        """Whether nothing after `position` is missing.

        Args:
            at: when the source was at this position and no further. A quiet source does not count up, so a
                ring that began after the position but before this time is complete too.
        """
        begun, evicted = self._begun.get(source), self._evicted.get(source)
        if begun is None or (evicted is not None and evicted > position):
            return False
        return begun.position <= position or begun.at <= at - CLOCKS_DIFFER_S

    def after(self, positions: dict[str, Position]) -> Iterable[Event]:
        """All events of the named sources after their positions, in the order in which they were heard."""
        reached = dict(positions)
        for _, event in self._events:
            position = reached.get(event.source)
            if position is not None and event.position > position:
                reached[event.source] = event.position
                yield event

    def _overfull(self, now: float) -> bool:
        oldest, _ = self._events[0]
        return now - oldest > self._age_s or len(self._events) > self._most or self._bytes > self._most_bytes
