"""OpenAPI schemas of what HTTP shows, from the same tree that decoding and encoding walk."""

from __future__ import annotations

from typing import Any

from onair_api.wire.encode import encode_field
from onair_api.wire.message import Kind, Message, WireField
from onair_crds.resources.enums import WireEnum

Schemas = dict[str, dict[str, Any]]

STRING: dict[str, Any] = {"type": "string"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}
INTEGER: dict[str, Any] = {"type": "integer", "format": "int64"}
TIME: dict[str, Any] = {"type": "string", "format": "date-time"}


def reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def array(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


def record(properties: dict[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object that has all of its properties, or the named ones."""
    return {"type": "object", "properties": properties, "required": list(required or properties)}


def optional(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_KEPT = ("description", "minimum", "maximum", "minLength", "maxLength", "maxItems")
_TYPES = {Kind.INTEGER: "integer", Kind.NUMBER: "number", Kind.BOOLEAN: "boolean", Kind.STRING: "string"}


def add_schema(message: Message, schemas: Schemas, name: str | None = None) -> dict[str, Any]:
    """Puts a message and all below it into `schemas`; gives the reference to it."""
    name = name or message.name
    if name not in schemas:
        schemas[name] = {}
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {f.name: field_schema(f, schemas) for f in message.fields.values()},
        }
        description = message.description
        if message.one_of:
            schema["oneOf"] = [{"required": [key]} for key in message.one_of]
        if required := [f.name for f in message.fields.values() if f.required and not f.secret]:
            schema["required"] = required
        if description:
            schema["description"] = description
        schemas[name] = schema
    return {"$ref": f"#/components/schemas/{name}"}


def field_schema(field: WireField, schemas: Schemas) -> dict[str, Any]:
    """The schema of one field."""
    kept = {key: field.node[key] for key in _KEPT if key in field.node}
    match field.kind:
        case Kind.MESSAGE if field.message:
            reference = add_schema(field.message, schemas)
            return (
                {"allOf": [reference], "description": kept["description"]}
                if "description" in kept
                else reference
            )
        case Kind.LIST if field.item:
            return {**kept, "type": "array", "items": field_schema(field.item, schemas)}
        case Kind.ENUM if field.enum:
            return {**kept, **enumeration(field.enum), **_default(field)}
        case Kind.ANY:
            return kept
    kept["type"] = _TYPES[field.kind]
    if field.kind is Kind.INTEGER:
        kept["format"] = "int64"
    if field.as_string:
        kept |= {"type": ["integer", "string"]}
        kept["description"] = kept.get("description", "") + " A string in responses."
    if field.secret:
        kept["description"] = "A secret; shown to hosts and co-hosts alone."
    return {**kept, **_default(field)}


def enumeration(enum: type[WireEnum]) -> dict[str, Any]:
    """The schema of an enumeration in its wire form."""
    return {"type": "string", "enum": [enum.unspecified(), *(member.wire for member in enum)]}


def _default(field: WireField) -> dict[str, Any]:
    return {} if field.default is None else {"default": encode_field(field, None)}
