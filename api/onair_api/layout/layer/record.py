"""Encodes layers as HTTP and events show them. Pure."""

from __future__ import annotations

from onair_api.errors import InvalidArgument, Violation
from onair_api.layout.layer.batch import BatchRequest
from onair_api.layout.layer.request import LAYER_MESSAGE, NULLABLE, LayerRequest
from onair_api.wire.encode import encode_message
from onair_api.writes.record_size import json_bytes
from onair_crds.contract.layers import Layer, LayersById, layers_of_spec
from onair_crds.kube.store import Entry
from onair_crds.runtime.steps import Steps
from onair_crds.shapes import JsonObject

MAX_BATCH_RESPONSE_BYTES = 4 * 1024 * 1024
"""Four times what a body may take. A request of 2 kB may update large layers again and again, and
its response is also its event."""


def layer_record(entry: Entry, layer_id: str) -> JsonObject | None:
    """One of a layout's layers for an event; None if it has no such layer."""
    layer = layers_of(entry).get(layer_id)
    return None if layer is None else {**layer_fields(entry.name, layer), "requestMetadata": {}}


def layers_of(entry: Entry) -> LayersById:
    """All layers by id, oldest first."""
    layers: LayersById | None = entry.records.get("layers")
    if layers is None:
        layers = entry.records["layers"] = layers_of_spec(entry.spec)
    return layers


def layer_fields(layout_id: str, layer: Layer, animation: list[JsonObject] | None = None) -> JsonObject:
    """A layer as reads show it, or with the animations of the request."""
    written = encode_message(LAYER_MESSAGE, layer)
    record = {"id": layer["id"], "layoutId": layout_id, **dict.fromkeys(NULLABLE), **written}
    if not isinstance(record["data"], dict):  # a manifest may hold anything
        record["data"] = {}
    return {**record, "requestAnimation": animation or []}


def with_request_metadata(record: JsonObject, metadata: JsonObject | None) -> JsonObject:
    """A record of a response with the `requestMetadata` of its request, if there was any."""
    return record if metadata is None else {**record, "requestMetadata": metadata}


def deletion(layout_id: str, request: LayerRequest) -> JsonObject:
    """The record of a deleted layer."""
    return with_request_metadata({"id": request.operation.id, "layoutId": layout_id}, request.metadata)


def result(layout_id: str, request: LayerRequest, layer: Layer) -> JsonObject:
    """The response of one operation: the layer after it, or its deletion."""
    if request.key == "delete":
        return deletion(layout_id, request)
    return with_request_metadata(layer_fields(layout_id, layer, request.animation), request.metadata)


def batch_response(layout_id: str, request: BatchRequest, results: list[Layer]) -> Steps[JsonObject]:
    """The batch response: the items of the request, in its order, with what became of their layers.

    Raises:
        InvalidArgument: it is too large.
    """
    items: list[JsonObject] = []
    size = 0
    for each, layer in zip(request.layers, results, strict=True):
        yield
        record = result(layout_id, each, layer)
        size += json_bytes(record)
        if size > MAX_BATCH_RESPONSE_BYTES:
            limit = f"larger than {MAX_BATCH_RESPONSE_BYTES} bytes"
            raise InvalidArgument(
                Violation("layers", f"the response has the whole layer for each item, and would be {limit}")
            )
        items.append({each.key: record})
    response = {"layers": items, "layoutId": layout_id, "requestAnimationMode": request.mode.wire}
    return with_request_metadata(response, request.metadata)


def event_record(record: JsonObject) -> Steps[JsonObject]:
    """A layer's record or a batch response as it travels with an event: always with `requestMetadata`."""
    whole = {"requestMetadata": {}, **record}
    if "layers" in whole:
        items, whole["layers"] = whole["layers"], []
        for item in items:
            yield
            whole["layers"] += [{key: {"requestMetadata": {}, **each}} for key, each in item.items()]
    return whole
