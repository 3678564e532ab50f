"""Tells the operator that leads from one that did before, whose requests may arrive late."""

from __future__ import annotations

import time
from collections.abc import Callable

KEPT_S = 60.0
"""A term counts for so long after it was heard last: a cluster restored from a backup begins lower."""


class LeaderTerms:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._newest = 0
        self._heard_s = 0.0

    def hear(self, term: int | None) -> bool:
        """Takes the term of a request; False if it is of a former leader.

        An operator that shows none is of a version from before there were terms.
        """
        now_s = self._clock()
        if now_s - self._heard_s > KEPT_S:
            self._newest = 0
        if term is None:
            return True
        if term < self._newest:
            return False
        self._newest, self._heard_s = term, now_s
        return True
