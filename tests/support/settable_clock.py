"""A clock that shows what a test sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class SettableClock:
    now: float
    """Seconds."""

    def __call__(self) -> float:
        return self.now
