"""For how long a peer has made no progress. Pure."""

from __future__ import annotations


class Stillness:
    """Counts the time between looks, but none of it in which this process did not run.

    After a pause (a busy machine, CPU limits, a frozen process) the peer's responses wait unread, and
    say nothing against it. So one look adds no more than a look takes.
    """

    def __init__(self, look_s: float, now: float) -> None:
        """
        Args:
            look_s: how often it is looked at, at least.
            now: seconds of a monotonic clock.
        """
        self._look_s = look_s
        self._looked_at = now
        self._still_s = 0.0

    def look(self, now: float, *, progress: bool) -> float:
        """Seconds without progress.

        Args:
            progress: whether there has been any since the last look, or none is due.
        """
        if progress:
            self._still_s = 0.0
        else:
            self._still_s += min(now - self._looked_at, self._look_s)
        self._looked_at = now
        return self._still_s
