"""Which of many alike Events are one, as for a destination that connects and disconnects. Pure.

An Event with the same message is counted up. Of those that differ only in their messages, the first few
have an Event of their own and the rest share one, which has the newest text. If there are too many new ones
of all resources, further ones of a reason share one.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.event_budget import CreationBudget

WINDOW = dt.timedelta(minutes=10)
"""A series that was silent for so long has ended; what follows is new."""
MOST_ALIKE = 10
MOST_SERIES = 40_000
"""So many are remembered, of all resources."""
COMBINED = "(combined from similar events): "


@dataclass(frozen=True)
class EventSeries:
    """One Kubernetes Event, for all that it stands for."""

    name: str
    message: str
    count: int
    first: dt.datetime
    last: dt.datetime


class EventAggregation:
    """Remembers each series until it has ended: one that was forgotten earlier would be new each time."""

    def __init__(self, generate: Callable[[], str] = lambda: secrets.token_hex(8)) -> None:
        """`generate` gives the unique part of a new Event's name."""
        self._generate = generate
        self._subjects: OrderedDict[tuple[str, str, bool], dict[str, EventSeries]] = OrderedDict()
        """Series by their text, or by COMBINED; by resource, reason and type, the longest silent first."""
        self._size = 0
        """How many series they have."""
        self._creations = CreationBudget()
        self._shared: dict[tuple[str, bool], EventSeries] = {}
        """Of resources whose own series would be too many; by reason and type."""

    def add(self, event: ResourceEvent, now: dt.datetime) -> EventSeries:
        """The series that the event belongs to, counted; one of count 1 is new."""
        self._forget_ended(now)
        subject = (event.resource.uid, event.reason, event.warning)
        before = self._subjects.get(subject, {})
        alike = {text: series for text, series in before.items() if _goes_on(series, now)}
        text, message = event.message, event.message
        if text not in alike and len(alike) >= MOST_ALIKE:
            text, message = COMBINED, COMBINED + event.message
        known = alike.get(text)
        if not known and (self._size >= MOST_SERIES or not self._creations.take(now.timestamp())):
            return self._share(event, now)
        series = alike[text] = self._counted(known, event, message, now)
        self._subjects[subject] = alike
        self._subjects.move_to_end(subject)
        self._size += len(alike) - len(before)
        return series

    def _share(self, event: ResourceEvent, now: dt.datetime) -> EventSeries:
        """Counts an event in the series of its reason."""
        kind = (event.reason, event.warning)
        known = self._shared.get(kind)
        message = f"{COMBINED}{event.resource.kind} {event.resource.name}: {event.message}"
        known = known if known and _goes_on(known, now) else None
        series = self._shared[kind] = self._counted(known, event, message, now)
        return series

    def _counted(
        self, known: EventSeries | None, event: ResourceEvent, message: str, now: dt.datetime
    ) -> EventSeries:
        if known:
            return replace(known, message=message, count=known.count + 1, last=now)
        return EventSeries(f"{event.resource.name}.{self._generate()}", message, 1, now, now)

    def _forget_ended(self, now: dt.datetime) -> None:
        while self._subjects:
            subject, alike = next(iter(self._subjects.items()))
            if any(_goes_on(each, now) for each in alike.values()):
                return
            del self._subjects[subject]
            self._size -= len(alike)


def _goes_on(series: EventSeries, now: dt.datetime) -> bool:
    return now - series.last < WINDOW
