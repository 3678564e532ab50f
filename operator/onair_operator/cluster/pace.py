"""Looks that may be asked for many times a second, at most one an interval for each name."""

from __future__ import annotations

import time
from collections.abc import Callable

MANY = 1000


class Pace:
    def __init__(self, interval_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = interval_s
        self._now = now
        self._due: dict[str, float] = {}
        """When the last look that was asked for is due, or was."""

    def delay_s(self, name: str) -> float:
        """The seconds until the next look, the first time 0.

        One that was asked for before is asked for again: a look at something else may have come in its place,
        before what this one is for.
        """
        now = self._now()
        last = self._due.get(name)
        if last is not None and last > now:
            return last - now
        if len(self._due) > MANY:
            self._due = {name: due for name, due in self._due.items() if due + self._interval_s > now}
        due = self._due[name] = now if last is None else max(now, last + self._interval_s)
        return due - now
