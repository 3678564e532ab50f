"""How often an Event may be written, a few times at once, then now and again, and how many new ones. Pure."""

from __future__ import annotations

BURST = 5
"""Writes of one Event that wait for nothing, after it was silent for long."""
INTERVAL_S = 10.0
"""Between two further writes of one Event."""

NEW_BURST = 1000
"""New Events, of all resources, if there were none for long."""
NEW_PER_S = 20.0
"""Further new Events; the API server keeps each for an hour."""


class EventBudget:
    """Says when each Event may be written."""

    def __init__(self) -> None:
        self._whole_at_s: dict[str, float] = {}
        """By the Event's name: when it may be written BURST times at once again."""
        self._most = 0
        """So many are known before those that were silent for long are forgotten: twice what was left."""

    def take(self, name: str, now_s: float) -> float:
        """Takes an Event's next write; gives how many seconds that has to wait."""
        if len(self._whole_at_s) > self._most:
            self._whole_at_s = {each: at_s for each, at_s in self._whole_at_s.items() if at_s > now_s}
            self._most = 2 * len(self._whole_at_s)
        whole_at_s = max(now_s, self._whole_at_s.get(name, now_s))
        self._whole_at_s[name] = whole_at_s + INTERVAL_S
        return max(0.0, whole_at_s - (BURST - 1) * INTERVAL_S - now_s)


class CreationBudget:
    """Says how many new Events there may be, of all resources."""

    def __init__(self) -> None:
        self._whole_at_s = 0.0
        """When there may be NEW_BURST at once again."""

    def take(self, now_s: float) -> bool:
        """Whether there may be one more."""
        # The wall clock may be set back
        whole_at_s = min(max(now_s, self._whole_at_s), now_s + NEW_BURST / NEW_PER_S)
        allowed = whole_at_s + 1 / NEW_PER_S <= now_s + NEW_BURST / NEW_PER_S
        self._whole_at_s = whole_at_s + allowed / NEW_PER_S
        return allowed
