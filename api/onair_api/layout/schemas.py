"""Schemas of the Layout interface for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from onair_api.layout.layer.batch import MAX_BATCH
from onair_api.layout.layer.request import ANIMATED_MESSAGE, LAYER_MESSAGE, NULLABLE
from onair_api.layout.record import LAYOUT_MESSAGE
from onair_api.wire.message import Message
from onair_api.wire.schema import STRING, Schemas, enumeration, field_schema, reference
from onair_crds.resources.enums import LayoutType, RequestAnimationMode
from onair_crds.shapes import JsonSchema

ANY_OBJECT: JsonSchema = {"type": "object"}
REQUEST_METADATA = {"requestMetadata": {**ANY_OBJECT, "description": "Part of the event; not stored."}}


PREFIX = "v2"
"""Of the names of the layout interface's types (`interface.md`, "Versioning"); messages have none."""


def layout_schemas() -> Schemas:
    """Every schema that a Layout operation names."""
    return _with_prefix(_schemas())


def _with_prefix(schemas: Schemas) -> Schemas:
    """The schemas under their names, and the references to them."""
    names = {
        name: f"{PREFIX}{'Request' if name == 'Animation' else ''}{name}"
        for name in schemas
        if not name.endswith(("Request", "Response"))
    }

    def renamed(node: Any) -> Any:
        if isinstance(node, list):
            return [renamed(each) for each in node]
        if not isinstance(node, dict):
            return node
        if isinstance(target := node.get("$ref"), str):
            name = target.rpartition("/")[2]
            return reference(names.get(name, name))
        return {key: renamed(value) for key, value in node.items()}

    return {names.get(name, name): renamed(schema) for name, schema in schemas.items()}


def _schemas() -> Schemas:
    schemas: Schemas = {
        "LayoutType": enumeration(LayoutType),
        "RequestAnimationMode": enumeration(RequestAnimationMode),
    }
    layout = _fields(LAYOUT_MESSAGE, schemas) | {"metadata": ANY_OBJECT}
    type_ = layout["type"]
    layout["type"] = {
        "allOf": [reference("LayoutType")],
        "description": type_["description"],
        "default": type_["default"],
    }
    layer = _fields(LAYER_MESSAGE, schemas) | {"metadata": ANY_OBJECT, "data": ANY_OBJECT}
    for name in NULLABLE:
        layer[name] = {**layer[name], "type": ["integer", "null"]}
    animated = _fields(ANIMATED_MESSAGE, schemas) | REQUEST_METADATA
    wanted_layer = {"type": "object", "properties": layer | animated}
    schemas["CreateLayoutRequest"] = _object(layout | REQUEST_METADATA, "projectId")
    schemas["UpdateLayoutRequest"] = _object(layout | REQUEST_METADATA)
    schemas["DeleteLayoutRequest"] = schemas["DeleteLayerRequest"] = _object(REQUEST_METADATA)
    schemas["DeleteLayoutResponse"] = _object({"id": STRING} | REQUEST_METADATA, "id")
    schemas["Layout"] = _object(
        {"id": STRING} | layout | REQUEST_METADATA,
        *("id", "projectId", "collectionId", "type", "width", "height", "metadata", "transitions"),
    )
    schemas["Layouts"] = {"type": "array", "items": reference("Layout")}
    schemas["CreateLayerRequest"] = {**wanted_layer, "required": ["type"]}
    schemas["UpdateLayerRequest"] = wanted_layer
    schemas["Layer"] = _object(
        {"id": STRING, "layoutId": STRING} | layer | animated,
        *("id", "layoutId", "requestAnimation"),
        *(name for name in layer if name != "parentId"),
    )
    schemas["Layers"] = {"type": "array", "items": reference("Layer")}
    schemas["DeleteLayerResponse"] = _object(
        {"id": STRING, "layoutId": STRING} | REQUEST_METADATA, "id", "layoutId"
    )
    schemas |= _batch(wanted_layer)
    return schemas


def _batch(wanted_layer: JsonSchema) -> Schemas:
    mode = {
        "allOf": [reference("RequestAnimationMode")],
        "description": "In series a layer's animations start when those of the layer before it have ended.",
    }
    with_id = {"properties": wanted_layer["properties"] | {"id": STRING}, "required": ["id"]}
    asked = {
        "create": reference("CreateLayerRequest"),
        "update": {"type": "object", **with_id},
        "delete": _object({"id": STRING} | REQUEST_METADATA, "id"),
    }
    items = {
        "create": reference("Layer"),
        "update": reference("Layer"),
        "delete": reference("DeleteLayerResponse"),
    }
    return {
        "BatchRequest": _object(
            {"layers": {"type": "array", "maxItems": MAX_BATCH, "items": _one_of(asked)}}
            | {"requestAnimationMode": mode}
            | REQUEST_METADATA
        ),
        "BatchResponse": _object(
            {"layers": {"type": "array", "items": _one_of(items)}, "layoutId": STRING}
            | {"requestAnimationMode": mode}
            | REQUEST_METADATA,
            *("layers", "layoutId", "requestAnimationMode"),
        ),
    }


def _fields(message: Message, schemas: Schemas) -> JsonSchema:
    return {f.name: field_schema(f, schemas) for f in message.fields.values()}


def _object(properties: JsonSchema, *required: str) -> JsonSchema:
    schema: JsonSchema = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def _one_of(properties: JsonSchema) -> JsonSchema:
    return {**_object(properties), "oneOf": [{"required": [key]} for key in properties]}
