"""Layouts and layers as HTTP and events show them. Pure."""

from __future__ import annotations

from typing import Any

from onair_api.cache.view import Entry
from onair_api.layout.layer.batch import BatchRequest
from onair_api.layout.layer.request import LAYER_MESSAGE, NULLABLE, LayerRequest
from onair_api.layout.layer.stored import layers_of_spec
from onair_api.layout.layer.tree import Layer, Layers
from onair_api.wire.encode import encode_message
from onair_api.wire.message import message_of
from onair_crds.resources.layout import LayoutSpec
from onair_crds.resources.rendering import Rendering

LAYOUT_MESSAGE = message_of(LayoutSpec).only(
    "projectId", "collectionId", "type", "width", "height", "metadata", "transitions"
)

Record = dict[str, Any]


def layout_record(entry: Entry, project: Entry | None = None) -> Record:
    """The layout for an event.

    Args:
        project: supplies size and collection where the layout does not name them (only manifests do that).
    """
    return {**layout_fields(entry, project), "requestMetadata": {}}


def layer_record(entry: Entry, layer_id: str) -> Record | None:
    """One of a layout's layers for an event; None if it has no such layer."""
    layer = layers_of(entry).get(layer_id)
    return None if layer is None else {**layer_fields(entry.name, layer), "requestMetadata": {}}


def layers_of(entry: Entry) -> Layers:
    """All layers by id, oldest first."""
    layers: Layers | None = entry.records.get("layers")
    if layers is None:
        layers = entry.records["layers"] = layers_of_spec(entry.spec)
    return layers


def layout_fields(entry: Entry, project: Entry | None = None) -> Record:
    """The layout as reads show it, without its layers."""
    spec = entry.spec
    if project is not None and not {"collectionId", "width", "height"} <= spec.keys():
        spec = {"collectionId": project.spec.get("collectionId"), **canvas(project), **spec}
        return {"id": entry.name, **encode_message(LAYOUT_MESSAGE, spec)}
    record: Record | None = entry.records.get("layout")
    if record is None:
        record = entry.records["layout"] = {"id": entry.name, **encode_message(LAYOUT_MESSAGE, spec)}
    return record


def canvas(project: Entry) -> dict[str, int]:
    """Width and height in pixels that the project renders at."""
    video = (project.spec.get("rendering") or {}).get("video") or {}
    default = Rendering().video
    return {
        "width": int(video.get("width") or default.width),
        "height": int(video.get("height") or default.height),
    }


def layer_fields(layout_id: str, layer: Layer, animation: list[Record] | None = None) -> Record:
    """A layer as reads show it, or with the animations of the request that is answered."""
    written = encode_message(LAYER_MESSAGE, layer)
    record = {"id": layer["id"], "layoutId": layout_id, **dict.fromkeys(NULLABLE), **written}
    if not isinstance(record["data"], dict):  # a manifest may hold anything
        record["data"] = {}
    return {**record, "requestAnimation": animation or []}


def answered(record: Record, metadata: Record | None) -> Record:
    """A record with the `requestMetadata` of the request that it answers, if there was any."""
    return record if metadata is None else {**record, "requestMetadata": metadata}


def deletion(layout_id: str, request: LayerRequest) -> Record:
    """What tells of a layer that is gone."""
    return answered({"id": request.operation.id, "layoutId": layout_id}, request.metadata)


def result(layout_id: str, request: LayerRequest, layer: Layer) -> Record:
    """What one operation gives: the layer after it, or its deletion."""
    if request.key == "delete":
        return deletion(layout_id, request)
    return answered(layer_fields(layout_id, layer, request.animation), request.metadata)


def batch_answer(layout_id: str, request: BatchRequest, results: list[Layer]) -> Record:
    """The batch response: the items of the request, in its order, with what became of their layers."""
    items = [
        {each.key: result(layout_id, each, layer)}
        for each, layer in zip(request.layers, results, strict=True)
    ]
    answer = {"layers": items, "layoutId": layout_id, "requestAnimationMode": request.mode.wire}
    return answered(answer, request.metadata)


def noted(record: Record) -> Record:
    """A layer's record or a batch response as it travels with an event: always with `requestMetadata`."""
    whole = {"requestMetadata": {}, **record}
    if "layers" in whole:
        whole["layers"] = [{key: noted(each)} for item in whole["layers"] for key, each in item.items()]
    return whole
