"""Applies operations to the tree of a layout's layers. Pure.

The rules are `operations.md`, "Layout operations". The two types of layouts
differ: a scene keeps one consistent tree under its root, a sceneless layout
keeps what its clients send and only clears up after deletions.

LayersById are in the resource's form, by id, oldest first; none is ever changed in
place, so what is the same object before and after has not changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from onair_api.errors import FailedPrecondition, InvalidArgument, NotFound, Violation
from onair_api.layout.layer.links import Links
from onair_api.wire.decode import joined
from onair_crds.contract.layers import ROOT, Layer, LayersById, children_of, is_root
from onair_crds.resources.layout import MAX_LAYERS
from onair_crds.runtime.steps import Steps
from onair_crds.shapes import JsonObject

MAX_CHILDREN = 2 * MAX_LAYERS
"""Names in all lists of children of a layout. Each deletion looks at those below it."""


@dataclass(frozen=True)
class Create:
    """Adds a layer."""

    id: str
    values: Layer
    path: str = ""
    """Where the operation is in the request, for error texts."""


@dataclass(frozen=True)
class Update:
    """Changes fields of a layer."""

    id: str
    values: Layer
    cleared: frozenset[str] = field(default_factory=frozenset)
    """Fields that were sent as null."""
    path: str = ""


@dataclass(frozen=True)
class Delete:
    """Removes a layer with its descendants."""

    id: str
    path: str = ""


LayerOperation = Create | Update | Delete


@dataclass(frozen=True)
class Outcome:
    """What operations have made of a layout's layers."""

    layers: LayersById
    results: list[Layer]
    """Per operation its layer: as it is at the end, or as it last was if the same batch deleted it."""


def applied(layers: LayersById, operations: Sequence[LayerOperation], *, scene: bool) -> Steps[Outcome]:
    """Applies the operations one after the other: all of them, or none.

    Raises:
        InvalidArgument: a parent or child that cannot be, too many layers.
        NotFound: an operation names no layer of this layout.
        FailedPrecondition: the root of a scene would be deleted.
    """
    tree: _Tree = _Scene(layers) if scene else _Sceneless(layers)
    for each in operations:
        yield
        match each:
            case Create():
                tree.create(each)
            case Update():
                tree.update(each)
            case Delete():
                tree.delete(each)
    if len(tree.layers) > MAX_LAYERS and len(tree.layers) > len(layers):
        raise InvalidArgument(Violation("layers", f"a layout has at most {MAX_LAYERS} layers"))
    if tree.grown and (names := _named(tree.layers)) > MAX_CHILDREN and names > _named(layers):
        text = f"the layers of a layout name at most {MAX_CHILDREN} children together"
        raise InvalidArgument(Violation("children", text))
    return Outcome(tree.layers, [tree.layers.get(o.id) or tree.gone[o.id] for o in operations])


def _named(layers: LayersById) -> int:
    return sum(len(children_of(each)) for each in layers.values())


class _Tree(ABC):
    def __init__(self, layers: LayersById) -> None:
        self.layers = dict(layers)
        self.gone: LayersById = {}
        self.grown = False
        """Whether a layer was given children."""
        self._links: Links | None = None

    @property
    def links(self) -> Links:
        """Follows the layers as they are now; deletions alone need it."""
        self._links = self._links or Links(self.layers)
        return self._links

    @abstractmethod
    def place(self, layer_id: str, values: Layer, path: str) -> None:
        """Sets `children` and `parentId`, where given."""

    @abstractmethod
    def taken_with(self, layer_id: str) -> set[str]:
        """The layer and all that go with it."""

    def create(self, operation: Create) -> None:
        own = {k: v for k, v in operation.values.items() if k not in ("children", "parentId")}
        self._put(operation.id, {"id": operation.id, **own})
        self.place(operation.id, operation.values, operation.path)

    def update(self, operation: Update) -> None:
        self._existing(operation)
        own = {k: v for k, v in operation.values.items() if k not in ("children", "parentId")}
        self.change(operation.id, **own, **dict.fromkeys(operation.cleared))
        self.place(operation.id, operation.values, operation.path)

    def delete(self, operation: Delete) -> None:
        if operation.id in self.gone:
            return
        self._existing(operation)
        links, taken = self.links, self.taken_with(operation.id)
        hanging = set().union(*map(links.hanging, taken)) - taken
        naming = set().union(*map(links.naming, taken)) - taken
        for each in taken:
            self.gone[each] = self.layers.pop(each)
            links.remove(each)
        for each in hanging:
            self.change(each, parentId=None)
        for each in naming:
            self.change(each, children=[c for c in children_of(self.layers[each]) if c not in taken])

    def change(self, layer_id: str, **values: Any) -> None:
        """Sets fields; None and an empty list of children are left out of the resource."""
        layer = {**self.layers[layer_id], **values}
        self.grown = self.grown or bool(values.get("children"))
        self._put(
            layer_id,
            {
                name: value
                for name, value in layer.items()
                if value is not None and (value != [] or name != "children")
            },
        )

    def _put(self, layer_id: str, layer: Layer) -> None:
        self.layers[layer_id] = layer
        if self._links:
            self._links.put(layer_id, layer)

    def _existing(self, operation: Update | Delete) -> None:
        if operation.id not in self.layers:
            where = f"{operation.path}.id: " if operation.path else ""
            raise NotFound(f"{where}the layer does not exist")


class _Sceneless(_Tree):
    """Any tree, or none: children and parents are kept as sent."""

    def place(self, layer_id: str, values: Layer, path: str) -> None:
        if values.get("parentId") == layer_id:
            raise InvalidArgument(Violation(joined(path, "parentId"), "must not be the layer itself"))
        self.change(layer_id, **{k: values[k] for k in ("children", "parentId") if k in values})

    def taken_with(self, layer_id: str) -> set[str]:
        """Descendants, but for those below a layer which stays too: their client has moved them there."""
        taken = self.links.reached([layer_id])
        stay = [each for each in taken if each != layer_id and self.links.stays(each, taken)]
        return taken - self.links.reached(stay, without=layer_id)


class _Scene(_Tree):
    """One tree under one root, and detached layers next to it."""

    def create(self, operation: Create) -> None:
        if operation.values.get("type") == ROOT and any(is_root(each) for each in self.layers.values()):
            raise InvalidArgument(
                Violation(joined(operation.path, "type"), "must not be root: a scene has one root layer")
            )
        super().create(operation)

    def update(self, operation: Update) -> None:
        before = self.layers.get(operation.id)
        super().update(operation)
        if before and is_root(before) != is_root(self.layers[operation.id]):
            raise InvalidArgument(
                Violation(
                    joined(operation.path, "type"),
                    "must not change to or from root: a scene has one root layer",
                )
            )

    def delete(self, operation: Delete) -> None:
        if is_root(self.layers.get(operation.id, {})):
            where = f"{operation.path}: " if operation.path else ""
            raise FailedPrecondition(f"{where}the root layer of a scene cannot be deleted")
        super().delete(operation)

    def place(self, layer_id: str, values: Layer, path: str) -> None:
        if "children" in values:
            self._adopt(layer_id, values["children"], joined(path, "children"))
        if "parentId" in values:
            self._move(layer_id, values["parentId"], joined(path, "parentId"))
        if self._is_in_a_cycle(layer_id):
            field_name = "children" if "children" in values else "parentId"
            raise InvalidArgument(
                Violation(joined(path, field_name), "must not put a layer below itself: that is a cycle")
            )

    def taken_with(self, layer_id: str) -> set[str]:
        return self.links.reached([layer_id])

    def _adopt(self, layer_id: str, wanted: list[str], path: str) -> None:
        seen: set[str] = set()
        for position, child in enumerate(wanted):
            if wrong := self._no_child(child, layer_id, seen):
                raise InvalidArgument(Violation(f"{path}[{position}]", wrong))
            seen.add(child)
        for child in children_of(self.layers[layer_id]):
            if child not in seen:
                self.change(child, parentId=None)
        parents: JsonObject = {child: self.layers[child].get("parentId") for child in wanted}
        for left in set(parents.values()) - {None, layer_id}:
            self.change(left, children=[c for c in children_of(self.layers[left]) if c not in seen])
        for child in wanted:
            if parents[child] != layer_id:
                self.change(child, parentId=layer_id)
        self.change(layer_id, children=wanted)

    def _no_child(self, child: str, layer_id: str, seen: set[str]) -> str | None:
        """Why a layer cannot be named as a child; None if it can."""
        if child not in self.layers:
            return "names no layer of this layout"
        if child in seen:
            return "names a layer twice"
        if child == layer_id:
            return "must not be the layer itself"
        return "must not be the root layer" if is_root(self.layers[child]) else None

    def _move(self, layer_id: str, parent: str, path: str) -> None:
        """Appends the layer to a parent's children; where it is already one of them it stays in its place."""
        layer = self.layers[layer_id]
        if parent not in self.layers:
            raise InvalidArgument(Violation(path, "names no layer of this layout"))
        if parent == layer_id:
            raise InvalidArgument(Violation(path, "must not be the layer itself"))
        if is_root(layer):
            raise InvalidArgument(Violation(path, "the root layer has no parent"))
        if layer.get("parentId") != parent:
            if (left := layer.get("parentId")) is not None:
                self.change(left, children=[c for c in children_of(self.layers[left]) if c != layer_id])
            self.change(layer_id, parentId=parent)
            self.change(parent, children=[*children_of(self.layers[parent]), layer_id])

    def _is_in_a_cycle(self, layer_id: str) -> bool:
        """Every new edge touches this layer, so a cycle would lead upwards from it back to it."""
        above = self.layers[layer_id].get("parentId")
        while above is not None and above != layer_id:
            above = self.layers[above].get("parentId")
        return above is not None
