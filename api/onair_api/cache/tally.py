"""Amounts of a forest of objects, summed up along their parents as they come, change and go. Pure.

An object may come before its parent; what is under it counts for those above once they are linked. A change
costs what its ancestors cost, of which there are few, and a sum costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Node = tuple[str, ...]
"""Names an object among all kinds."""
Amounts = Mapping[str, int]


@dataclass(slots=True)
class _Sum:
    parent: Node | None = None
    own: Amounts = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    """With those of all below."""
    present: bool = False
    """It was put; otherwise only something below it was."""
    children: int = 0
    """Those that are linked to it."""


class Tally:
    def __init__(self) -> None:
        self._sums: dict[Node, _Sum] = {}

    def total(self, node: Node, name: str) -> int:
        """The sum of one amount of a node and all below it."""
        found = self._sums.get(node)
        return found.total.get(name, 0) if found else 0

    def lineage(self, node: Node) -> Iterator[Node]:
        """A node and those above it, as far as they are known."""
        at: Node | None = node
        while at is not None:
            yield at
            found = self._sums.get(at)
            at = found.parent if found else None

    def put(self, node: Node, parent: Node | None, own: Amounts) -> None:
        """Takes an object as it is now."""
        known = self._sums.setdefault(node, _Sum())
        known.present = True
        if known.parent != parent:
            self._move(known, parent)
        if known.own != own:
            before, known.own = known.own, own
            self._add(node, before, -1)
            self._add(node, own, 1)

    def remove(self, node: Node) -> None:
        """Forgets an object; what is under it counts for nobody above any more."""
        if known := self._sums.get(node):
            self.put(node, None, {})
            known.present = False
            self._forget_unused(node)

    def remove_childless(self, node: Node) -> None:
        """Forgets an object if nothing is below it."""
        if (known := self._sums.get(node)) and not known.children:
            self.remove(node)

    def __bool__(self) -> bool:
        return bool(self._sums)

    def _move(self, known: _Sum, parent: Node | None) -> None:
        before, known.parent = known.parent, parent
        if before is not None:
            self._add(before, known.total, -1)
            self._sums[before].children -= 1
            self._forget_unused(before)
        if parent is not None:
            self._sums.setdefault(parent, _Sum()).children += 1
            self._add(parent, known.total, 1)

    def _add(self, node: Node, amounts: Amounts, sign: int) -> None:
        for each in self.lineage(node):
            total = self._sums[each].total
            for name, amount in amounts.items():
                total[name] = total.get(name, 0) + sign * amount
                if not total[name]:
                    del total[name]

    def _forget_unused(self, node: Node) -> None:
        """Drops a node that is not there and has nothing below, and those above that it was the last of."""
        known = self._sums[node]
        if not known.present and not known.children:
            self._move(known, None)
            del self._sums[node]
