"""When to retry: with full jitter, so that many that failed together do not come back together."""

from __future__ import annotations

from collections.abc import Callable

FIRST_S, LONGEST_S = 0.1, 30.0
FIRST_YIELDING_S, LONGEST_YIELDING_S = 30.0, 600.0


class Backoff:
    """`uniform` draws between two numbers, as `random.uniform` does."""

    def __init__(self, uniform: Callable[[float, float], float]) -> None:
        self._uniform = uniform
        self._limit_s = FIRST_S

    def next_s(self, *, permanent: bool = False) -> float:
        """The next pause, drawn up to a limit that doubles from 0.1 s to 30 s.

        Args:
            permanent: a retry helps only after somebody has changed something; 15 to 30 s.
        """
        if permanent:
            return self._uniform(LONGEST_S / 2, LONGEST_S)
        wait_s = self._uniform(0, self._limit_s)
        self._limit_s = min(self._limit_s * 2, LONGEST_S)
        return wait_s

    def reset(self) -> None:
        self._limit_s = FIRST_S


class YieldingBackoff:
    """Pauses of an encoder that may have been replaced: whoever has the place can keep it meanwhile."""

    def __init__(self, uniform: Callable[[float, float], float]) -> None:
        self._uniform = uniform
        self._limit_s = FIRST_YIELDING_S

    @property
    def begun(self) -> bool:
        return self._limit_s > FIRST_YIELDING_S

    def next_s(self) -> float:
        """The next pause: 30 s, and twice as long each time, up to 10 minutes; and up to a quarter more."""
        wait_s = self._uniform(self._limit_s, 1.25 * self._limit_s)
        self._limit_s = min(self._limit_s * 2, LONGEST_YIELDING_S)
        return wait_s

    def reset(self) -> None:
        self._limit_s = FIRST_YIELDING_S
