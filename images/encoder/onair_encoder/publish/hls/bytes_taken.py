"""How far what is being stored has come, while none of it is stored yet. Pure."""

from __future__ import annotations


class BytesTaken:
    """Bytes of objects that connections have taken; those that are sent again after a failure count once.

    Otherwise a storage that takes every object and refuses it would be taken for one that is slow.
    """

    def __init__(self) -> None:
        self.total = 0
        self._of: dict[tuple[str, int], int] = {}

    def note(self, key: str, size: int, taken: int) -> None:
        """Notes how much of an object of this size a connection has taken so far."""
        before = self._of.get((key, size), 0)
        if taken > before:
            self._of[key, size] = taken
            self.total += taken - before

    def stored(self) -> None:
        """A segment is stored: what comes next, or is stored once more, counts from its begin."""
        self._of.clear()
