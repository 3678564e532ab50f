"""How much each of several has of something, and who has the most. Pure."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", bound=tuple[str, ...])
SPARE = 64


class Shares(Generic[K]):
    """Amounts by owner. A change and a look cost what a heap costs, however many owners there are."""

    def __init__(self) -> None:
        self._amounts: dict[K, int] = {}
        self._heap: list[tuple[int, K]] = []
        """Of each owner the present amount or a larger one, negative."""
        self.total = 0

    def add(self, owner: K, amount: int) -> None:
        """Takes what an owner has more, or less."""
        self.total += amount
        present = self._amounts.pop(owner, 0) + amount
        if not present:
            return
        self._amounts[owner] = present
        if amount > 0:
            heappush(self._heap, (-present, owner))
            if len(self._heap) > 2 * len(self._amounts) + SPARE:
                self._heap = [(-each, name) for name, each in self._amounts.items()]
                heapify(self._heap)

    def largest(self) -> K:
        """Whoever has the most.

        Raises:
            IndexError: nobody has anything.
        """
        while True:
            noted, owner = self._heap[0]
            present = self._amounts.get(owner, 0)
            if present == -noted:
                return owner
            heappop(self._heap)
            if present:
                heappush(self._heap, (-present, owner))
