"""The events of the last minute, kept for sessions that reconnect."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from onair_api.event.event import Event, Position

CLOCK_SKEW_S = 1.0
"""How far the clocks of two replicas may be apart, and a watch's delivery behind the change."""


class Start(NamedTuple):
    position: Position
    at: float
    """Seconds since the epoch."""


class ReplayBuffer:
    """Bounded by age, number and bytes. `covers` says whether all events after a position are still there."""

    def __init__(self, max_age_s: float, max_events: int, max_bytes: int) -> None:
        self._max_age_s = max_age_s
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._events: deque[tuple[float, Event]] = deque()
        self._bytes = 0
        self._starts: dict[str, Start] = {}
        self._evicted: dict[str, Position] = {}
        self._last: dict[str, Position] = {}

    def start(self, source: str, position: Position, at: float) -> None:
        """From here on every event of a source is added."""
        self._starts[source] = Start(position, at)
        self._last[source] = position

    def forget(self, source: str) -> None:
        """The source is not followed any more."""
        for each in (self._starts, self._evicted, self._last):
            each.pop(source, None)

    def add(self, event: Event, at: float) -> None:
        self._events.append((at, event))
        self._bytes += event.size
        self.advance(event.source, event.position)
        while self._events and self._exceeds_bounds(at):
            _, oldest = self._events.popleft()
            self._bytes -= oldest.size
            if oldest.source in self._starts:
                self._evicted[oldest.source] = oldest.position

    def advance(self, source: str, position: Position) -> None:
        """The source got to this position, with or without an event."""
        if source in self._starts:
            self._last[source] = max(position, self._last[source])

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
        if start is None or (evicted is not None and evicted > position):
            return False
        return start.position <= position or start.at <= at - CLOCK_SKEW_S

    def after(self, positions: dict[str, Position]) -> Iterator[Event]:
        """All events of the named sources after their positions, in order of arrival."""
        reached = dict(positions)
        for _, event in self._events:
            position = reached.get(event.source)
            if position is not None and event.position > position:
                reached[event.source] = event.position
                yield event

    def _exceeds_bounds(self, now: float) -> bool:
        oldest, _ = self._events[0]
        return (
            now - oldest > self._max_age_s
            or len(self._events) > self._max_events
            or self._bytes > self._max_bytes
        )
