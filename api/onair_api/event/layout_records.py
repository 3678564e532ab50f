"""Layouts and layers as events show them."""

from __future__ import annotations

from typing import Any

from onair_api.cache.view import Entry
from onair_api.wire.message import message_of
from onair_api.wire.writing import write_message
from onair_crds.layout import Layer, LayoutSpec

LAYOUT_MESSAGE = message_of(LayoutSpec).only(
    "projectId", "collectionId", "type", "width", "height", "metadata", "transitions"
)
LAYER_MESSAGE = message_of(Layer)

Record = dict[str, Any]


def layout_record(entry: Entry, project: Entry | None = None) -> Record:
    return {"id": entry.name, **write_message(LAYOUT_MESSAGE, entry.spec)}


def layers_of(entry: Entry) -> dict[str, Record]:
    return {str(layer.get("id")): layer for layer in entry.spec.get("layers") or []}


def layer_record(entry: Entry, layer_id: str) -> Record | None:
    layer = layers_of(entry).get(layer_id)
    if layer is None:
        return None
    return {"layoutId": entry.name, **write_message(LAYER_MESSAGE, layer), "requestAnimation": []}
