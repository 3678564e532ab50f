"""Which of many alike Events are one, as for a destination that connects and disconnects. Pure.

An Event with the same message is counted up. Of those that differ only in their messages, the first few
have an Event of their own and the rest share one, which has the newest text.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from onair_operator.cluster.actions import ResourceEvent

WINDOW = dt.timedelta(minutes=10)
"""A series that was silent for so long has ended; what follows is new."""
MOST_ALIKE = 10
MOST_SUBJECTS = 4096
"""So many resources and reasons are remembered."""
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
    """Remembers the latest series; those of what was silent for longest are forgotten first."""

    def __init__(self, generate: Callable[[], str] = lambda: secrets.token_hex(8)) -> None:
        """`generate` gives the unique part of a new Event's name."""
        self._generate = generate
        self._subjects: OrderedDict[tuple[str, str, bool], dict[str, EventSeries]] = OrderedDict()
        """Series by their text, or by COMBINED; by resource, reason and type."""

    def add(self, event: ResourceEvent, now: dt.datetime) -> EventSeries:
        """The series that the event belongs to, counted; one of count 1 is new."""
        subject = (event.resource.uid, event.reason, event.warning)
        alike = self._subjects.pop(subject, {})
        alike = {text: series for text, series in alike.items() if now - series.last < WINDOW}
        text, message = event.message, event.message
        if text not in alike and len(alike) >= MOST_ALIKE:
            text, message = COMBINED, COMBINED + event.message
        if known := alike.get(text):
            series = replace(known, message=message, count=known.count + 1, last=now)
        else:
            series = EventSeries(f"{event.resource.name}.{self._generate()}", message, 1, now, now)
        self._subjects[subject] = {**alike, text: series}
        while len(self._subjects) > MOST_SUBJECTS:
            self._subjects.popitem(last=False)
        return series
