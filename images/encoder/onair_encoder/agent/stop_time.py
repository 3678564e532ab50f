"""When a programme ends by itself: measured once from the wall clock, which may be set while it is on air."""

from __future__ import annotations

import datetime as dt
import time


class StopTime:
    """The time of a programme's `stop_at` by the monotonic clock."""

    def __init__(self) -> None:
        self._stop_at: str | None = None
        self._due: float | None = None
        """Monotonic time; None for no end."""

    def want(self, stop_at: str | None) -> None:
        """Takes what a programme says; the same again changes nothing, whatever the time of day is by now."""
        if stop_at == self._stop_at:
            return
        due = None
        if stop_at:
            due = time.monotonic() + dt.datetime.fromisoformat(stop_at).timestamp() - time.time()
        self._stop_at, self._due = stop_at, due

    @property
    def reached(self) -> bool:
        return self._due is not None and time.monotonic() >= self._due
