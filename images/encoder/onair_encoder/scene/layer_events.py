"""Reads changes of layers from events of the facade. Pure.

An event names what its request named: a layer that was put into another one, or was deleted with those in it,
changes others, too. Those that follow from the record are worked out here; the programme corrects the rest.
"""

from __future__ import annotations

from onair_crds.contract.scene import (
    ChangeAnimation,
    LayerAnimation,
    SceneLayer,
    scene_layer,
)
from onair_crds.shapes import JsonObject
from onair_encoder.scene.scene import LayersEvent

SERIES = "REQUEST_ANIMATION_MODE_SERIES"
PATTERN = "*:layout:EVENT_TYPE_LAYER:*"
"""What to subscribe to, whatever the prefix of names is."""


def layers_event(event: JsonObject) -> LayersEvent | None:
    """What an event of a layer says; None if it has no version, or is of something else.

    Raises:
        ValueError, TypeError, KeyError: a record is not as events have them.
    """
    change = event.get("payload", {}).get("layer")
    version = event.get("resourceVersion")
    if not isinstance(change, dict) or not version:
        return None
    [(kind, record)] = change.items()
    items = record["layers"] if kind == "batch" else [{kind: record}]
    upsert: dict[str, SceneLayer] = {}
    parents: dict[str, str] = {}
    remove: list[str] = []
    animations: list[LayerAnimation] = []
    for item in items:
        [(each, layer)] = item.items()
        layer_id = str(layer["id"])
        if each == "delete":
            remove.append(layer_id)
            continue
        upsert[layer_id] = scene_layer(layer)
        if layer.get("parentId"):
            parents[layer_id] = str(layer["parentId"])
        if layer.get("requestAnimation"):
            animations.append(LayerAnimation(id=layer_id, request_animation=layer["requestAnimation"]))
    series = kind == "batch" and record.get("requestAnimationMode") == SERIES
    return LayersEvent(
        layout_id=str(record["layoutId"]),
        resource_version=int(version),
        upsert=tuple(upsert.values()),
        remove=tuple(remove),
        parents=parents,
        animation=(
            ChangeAnimation(mode="SERIES" if series else "PARALLEL", layers=animations)
            if animations
            else None
        ),
    )
