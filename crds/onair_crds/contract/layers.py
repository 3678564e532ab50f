"""The layers of a layout as it is stored, made one consistent tree where it is a scene. Pure.

What the facade writes is consistent already; a manifest may name a tree by
only `children`, only `parentId`, or contradict itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from onair_crds.resources.enums import LayoutType
from onair_crds.shapes import JsonObject

Layer = JsonObject
LayersById = dict[str, Layer]

ROOT = "root"
"""Type of the layer that a scene begins with."""


def is_scene(spec: JsonObject) -> bool:
    """Whether a layout is a scene, and so has a root layer."""
    return spec.get("type") == LayoutType.SCENE.value


def layers_of_spec(spec: JsonObject) -> LayersById:
    """All layers by id, oldest first; those that are as stored are the same objects."""
    layers: LayersById = {layer["id"]: layer for layer in spec.get("layers") or []}
    return consistent(layers) if is_scene(spec) else layers


def consistent(layers: LayersById) -> LayersById:
    """The layers with `children` and `parentId` that agree: no unknown layer, no cycle, one parent each.

    `children` come first, in the order of the layers; a `parentId` counts for a layer that no other names.
    """
    if _is_consistent(layers):
        return layers
    parents: dict[str, str] = {}

    def attach(child: str, parent: str) -> None:
        if child not in layers or parent not in layers or child in parents or is_root(layers[child]):
            return
        above: str | None = parent
        while above is not None:
            if above == child:
                return
            above = parents.get(above)
        parents[child] = parent

    for layer_id, layer in layers.items():
        for child in children_of(layer):
            attach(child, layer_id)
    for layer_id, layer in layers.items():
        if layer.get("parentId"):
            attach(layer_id, layer["parentId"])
    children: dict[str, list[str]] = {each: [] for each in layers}
    for child, parent in parents.items():
        children[parent].append(child)
    return {each: _with(layer, children[each], parents.get(each)) for each, layer in layers.items()}


def _with(layer: Layer, children: list[str], parent: str | None) -> Layer:
    if children_of(layer) == children and layer.get("parentId") == parent:
        return layer
    own = {k: v for k, v in layer.items() if k not in ("children", "parentId")}
    return (
        own
        | ({"children": children} if children else {})
        | ({"parentId": parent} if parent is not None else {})
    )


def _is_consistent(layers: LayersById) -> bool:
    named = [(child, layer_id) for layer_id, layer in layers.items() for child in layer.get("children") or ()]
    parents = {layer_id: layer["parentId"] for layer_id, layer in layers.items() if layer.get("parentId")}
    if len(named) != len(parents) or dict(named) != parents:
        return False
    if any(child not in layers or is_root(layers[child]) for child in parents):
        return False
    tops = [each for each in layers if each not in parents]
    below = {each: children_of(layer) for each, layer in layers.items()}
    return len(reached(below, tops)) == len(layers)


def children_of(layer: Layer) -> list[str]:
    """Ids of a layer's children, in their order."""
    return layer.get("children") or []


def is_root(layer: Layer) -> bool:
    """Whether a layer is the root of a scene."""
    return layer.get("type") == ROOT


def reached(below: dict[str, list[str]], start: Iterable[str]) -> set[str]:
    """All known layers from `start` downwards, whatever the shape."""
    found: set[str] = set()
    todo = [each for each in start if each in below]
    while todo:
        current = todo.pop()
        if current not in found:
            found.add(current)
            todo += [each for each in below[current] if each in below]
    return found
