"""Which layers name which. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from onair_crds.contract.layers import Layer, LayersById, children_of


class Links:
    """Follows the layers of a tree as they change: a deletion looks at those that it is about."""

    def __init__(self, layers: LayersById) -> None:
        self._layers: LayersById = {}
        self._naming: defaultdict[str, set[str]] = defaultdict(set)
        self._hanging: defaultdict[str, set[str]] = defaultdict(set)
        for layer_id, layer in layers.items():
            self.put(layer_id, layer)

    def put(self, layer_id: str, layer: Layer) -> None:
        """Takes a layer as it is now."""
        self.remove(layer_id)
        self._layers[layer_id] = layer
        for child in children_of(layer):
            self._naming[child].add(layer_id)
        if parent := layer.get("parentId"):
            self._hanging[parent].add(layer_id)

    def remove(self, layer_id: str) -> None:
        layer = self._layers.pop(layer_id, {})
        for child in children_of(layer):
            self._naming[child].discard(layer_id)
        if parent := layer.get("parentId"):
            self._hanging[parent].discard(layer_id)

    def naming(self, layer_id: str) -> set[str]:
        """The layers that name it as a child."""
        return self._naming[layer_id]

    def hanging(self, layer_id: str) -> set[str]:
        """The layers that name it as their parent."""
        return self._hanging[layer_id]

    def reached(self, start: Iterable[str], *, without: str | None = None) -> set[str]:
        """All known layers from `start` downwards, whatever the shape, and none through `without`."""
        found: set[str] = set()
        todo = [*start]
        while todo:
            current = todo.pop()
            if current in self._layers and current not in found and current != without:
                found.add(current)
                todo += children_of(self._layers[current])
                todo += self._hanging[current]
        return found

    def stays(self, layer_id: str, taken: set[str]) -> bool:
        """Whether a layer that is not taken names it, or is named by it as its parent."""
        parent = self._layers[layer_id].get("parentId")
        return (parent in self._layers and parent not in taken) or not self._naming[layer_id] <= taken
