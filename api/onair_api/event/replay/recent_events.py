"""The events of the last minute, kept for sessions that reconnect."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from onair_api.access.audiences import AudienceKey
from onair_api.event.event import Event, Position
from onair_api.event.replay.event_index import Comparing, EventIndex, Numbered, unlimited
from onair_api.event.replay.shares import Shares
from onair_api.event.subscription import Subscription

DELAY_S = 1.0
"""How much later than it closed a session may be stored, and than the change a watch may deliver."""


class Start(NamedTuple):
    """The place from which on the events of a source are kept."""

    position: Position
    at: float


class KeptEvent(NamedTuple):
    """An event that is kept."""

    number: int
    """The how-many-th it was."""
    at: float
    event: Event


class EvictedEvent(NamedTuple):
    """The last event that an audience lost before its time."""

    position: Position
    at: float
    """When it was evicted."""


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

    Whoever has the most loses their oldest where there are too many: who has little keeps it. Times are in
    seconds of the monotonic clock.
    """

    def __init__(self, max_age_s: float, max_events: int, max_bytes: int) -> None:
        self._max_age_s = max_age_s
        self.max_events = max_events
        self._max_bytes = max_bytes
        self._added = 0
        self._kept: dict[AudienceKey, deque[KeptEvent]] = {}
        """By owner, oldest first."""
        self._order: deque[tuple[int, AudienceKey]] = deque()
        """Numbers of all, oldest first, with their owners; some may be of events that were evicted."""
        self._index = EventIndex()
        self._bytes: Shares[AudienceKey] = Shares()
        self._counts: Shares[AudienceKey] = Shares()
        self._starts: dict[str, Start] = {}
        self._evicted: dict[str, Position] = {}
        """By source the last that is gone for everybody."""
        self._evicted_of: OrderedDict[tuple[str, AudienceKey], EvictedEvent] = OrderedDict()
        """The last that is gone for an audience of a source, those that lost one most recently at the end."""
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
        for key in [key for key in self._evicted_of if key[0] == source]:
            del self._evicted_of[key]

    def add(self, event: Event, at: float) -> None:
        self._keep(event, at)
        self.advance(event.source, event.position)
        self._expire(at - self._max_age_s)
        while self._bytes.total > self._max_bytes:
            self._evict_oldest_of(self._bytes.largest(), at)
        while self._counts.total > self.max_events:
            self._evict_oldest_of(self._counts.largest(), at)
        if len(self._order) > 2 * self._counts.total + self.max_events:
            self._order = deque(each for each in self._order if self._is_kept(*each))

    def advance(self, source: str, position: Position) -> None:
        """The source got to this position, with or without an event."""
        if source in self._starts:
            self._last[source] = max(position, self._last[source])

    def lose(self, source: str, position: Position) -> None:
        """An event of the source is not kept, though somebody may have missed it."""
        self._evicted_for_all(source, position)
        self.advance(source, position)

    def go_back(self, source: str, position: Position, at: float) -> None:
        """The source counts from a lower position on: whoever was there before may have missed something."""
        if source not in self._last:
            return
        kept = [each for of_owner in self._kept.values() for each in of_owner]
        if any(each.event.source == source for each in kept):
            self._kept, self._order, self._index = {}, deque(), EventIndex()
            self._bytes, self._counts = Shares(), Shares()
            for each in sorted(kept, key=lambda each: each.number):
                if each.event.source != source:
                    self._keep(each.event, each.at)
        self.forget(source)
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

    def covers(
        self, source: str, position: Position, at: float, audiences: Iterable[AudienceKey] | None = None
    ) -> bool:
        """Returns whether nothing after `position` is missing.

        Args:
            audiences: whose events are asked about; None where it is everybody's.
            at: when the source was at this position and no further. A quiet source does not count up, so a
                buffer that started after the position but before this time is complete too.
        """
        start, evicted = self._starts.get(source), self._evicted.get(source)
        if audiences is None:
            audiences = [audience for each, audience in self._evicted_of if each == source]
        for audience in audiences:
            if (lost := self._evicted_of.get((source, audience))) and lost.position > position:
                return False
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

    def _keep(self, event: Event, at: float) -> None:
        self._added += 1
        owner = _owner(event)
        self._kept.setdefault(owner, deque()).append(KeptEvent(self._added, at, event))
        self._order.append((self._added, owner))
        self._bytes.add(owner, event.size)
        self._counts.add(owner, 1)
        self._index.add(event)

    def _expire(self, before: float) -> None:
        """Drops what is too old, for everybody."""
        while self._order:
            number, owner = self._order[0]
            if self._is_kept(number, owner):
                if self._kept[owner][0].at >= before:
                    break
                event = self._drop_oldest_of(owner)
                self._evicted_for_all(event.source, event.position)
            self._order.popleft()
        while self._evicted_of:
            (source, audience), lost = next(iter(self._evicted_of.items()))
            if lost.at >= before:
                break
            del self._evicted_of[source, audience]
            self._evicted_for_all(source, lost.position)

    def _is_kept(self, number: int, owner: AudienceKey) -> bool:
        kept = self._kept.get(owner)
        return kept is not None and number >= kept[0].number

    def _evict_oldest_of(self, owner: AudienceKey, at: float) -> None:
        event = self._drop_oldest_of(owner)
        if event.source not in self._starts:
            return
        for audience in event.audiences:
            key = event.source, audience
            last = self._evicted_of.pop(key, None)
            position = max(event.position, last.position) if last else event.position
            self._evicted_of[key] = EvictedEvent(position, at)

    def _drop_oldest_of(self, owner: AudienceKey) -> Event:
        kept = self._kept[owner]
        event = kept.popleft().event
        if not kept:
            del self._kept[owner]
        self._bytes.add(owner, -event.size)
        self._counts.add(owner, -1)
        self._index.remove(event)
        return event

    def _evicted_for_all(self, source: str, position: Position) -> None:
        if source in self._starts:
            # One that was lost may be further
            self._evicted[source] = max(position, self._evicted.get(source, position))


def _owner(event: Event) -> AudienceKey:
    """Whoever an event counts for: its first audience, the owner's if it is about what somebody owns."""
    return event.audiences[0] if event.audiences else ()
