"""Ever longer pauses between attempts. Pure."""

from __future__ import annotations

MAX_DOUBLINGS = 16
"""Far beyond any longest pause; without a bound the thousandth failure would overflow."""


def backoff_s(failures: int, shortest_s: float, longest_s: float) -> float:
    """The pause after a failure that so many came before, without a success between."""
    return min(shortest_s * 2.0 ** min(failures, MAX_DOUBLINGS), longest_s)
