"""The wall clock and the monotonic one, in the place of a module's `time`."""

from __future__ import annotations


class ClockPair:
    """Both go on together, until a test sets the wall clock."""

    def __init__(self) -> None:
        self._wall_s, self._monotonic_s = 1_000_000.0, 50.0

    def time(self) -> float:
        return self._wall_s

    def monotonic(self) -> float:
        return self._monotonic_s

    def go_on(self, by_s: float) -> None:
        self._wall_s += by_s
        self._monotonic_s += by_s

    def set_wall(self, by_s: float) -> None:
        """Sets it forward by so much, or back."""
        self._wall_s += by_s
