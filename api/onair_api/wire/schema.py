"""OpenAPI schemas of what HTTP shows, from the same tree that decoding and encoding walk."""

from __future__ import annotations

from onair_api.wire.encode import encode_field
from onair_api.wire.message import FieldKind, Message, WireField
from onair_crds.resources.enums import WireEnum
from onair_crds.shapes import JsonSchema

Schemas = dict[str, JsonSchema]

STRING: JsonSchema = {"type": "string"}
BOOLEAN: JsonSchema = {"type": "boolean"}
INTEGER: JsonSchema = {"type": "integer", "format": "int64"}
TIME: JsonSchema = {"type": "string", "format": "date-time"}


def reference(name: str) -> JsonSchema:
    """A reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def array(of: JsonSchema) -> JsonSchema:
    """The schema of a list of these."""
    return {"type": "array", "items": of}


def record(properties: JsonSchema, required: tuple[str, ...] = ()) -> JsonSchema:
    """An object that has all of its properties, or the named ones."""
    return {"type": "object", "properties": properties, "required": list(required or properties)}


def listing(name: str, of: JsonSchema) -> JsonSchema:
    """A list, and the token of its next page where there is one."""
    return record({name: array(of), "nextPageToken": STRING}, (name,))


def optional(properties: JsonSchema) -> JsonSchema:
    """The schema of an object none of whose properties is required."""
    return {"type": "object", "properties": properties}


MASK: JsonSchema = {
    "type": "string",
    "description": "Fields to change: comma-separated, nested ones with dots. One that is named and absent"
    " from the body gets its default. Without a mask: the fields that the body has.",
}


def request_schemas(name: str, message: Message, required: tuple[str, ...] = ()) -> Schemas:
    """Schemas of the requests that create and update a resource, with those that they name.

    Args:
        name: of the resource.
        required: fields that a creation needs.
    """
    schemas: Schemas = {}
    fields = {f.name: field_schema(f, schemas) for f in message.fields.values()}
    metadata: JsonSchema = {"requestMetadata": {"type": "object"}}
    create = optional({**fields, **metadata})
    if required:
        create["required"] = list(required)
    schemas[f"Create{name}Request"] = create
    schemas[f"Update{name}Request"] = optional({"updateMask": MASK, **fields, **metadata})
    return schemas


def resource_schema(
    message: Message, ids: tuple[str, ...], schemas: Schemas, more: JsonSchema | None = None
) -> JsonSchema:
    """The schema of a resource as responses show it.

    Args:
        schemas: gets those that it names.
        more: properties that no request sets.
    """
    fields = {f.name: field_schema(f, schemas) for f in message.fields.values()}
    always = [f.name for f in message.fields.values() if f.default is not None or f.required]
    properties = {**dict.fromkeys(ids, STRING), **fields, **(more or {})}
    return record(properties, (*ids, *always, "metadata", *(more or {})))


_KEPT = ("description", "minimum", "maximum", "minLength", "maxLength", "maxItems")
_TYPES = {
    FieldKind.INTEGER: "integer",
    FieldKind.NUMBER: "number",
    FieldKind.BOOLEAN: "boolean",
    FieldKind.STRING: "string",
}


def add_schema(message: Message, schemas: Schemas, name: str | None = None) -> JsonSchema:
    """Puts a message and all below it into `schemas`; gives the reference to it."""
    name = name or message.name
    if name not in schemas:
        schemas[name] = {}
        schema: JsonSchema = {
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


def field_schema(field: WireField, schemas: Schemas) -> JsonSchema:
    """The schema of one field."""
    kept = {key: field.node[key] for key in _KEPT if key in field.node}
    match field.kind:
        case FieldKind.MESSAGE if field.message:
            reference = add_schema(field.message, schemas)
            return (
                {"allOf": [reference], "description": kept["description"]}
                if "description" in kept
                else reference
            )
        case FieldKind.LIST if field.item:
            return {**kept, "type": "array", "items": field_schema(field.item, schemas)}
        case FieldKind.ENUM if field.enum:
            return {**kept, **enumeration(field.enum), **_default(field)}
        case FieldKind.ANY:
            return kept
    kept["type"] = _TYPES[field.kind]
    if field.kind is FieldKind.INTEGER:
        kept["format"] = "int64"
    if field.as_string:
        kept |= {"type": ["integer", "string"]}
        kept["description"] = kept.get("description", "") + " A string in responses."
    if field.secret:
        kept["description"] = "A secret; shown only to hosts and co-hosts."
    return {**kept, **_default(field)}


def enumeration(enum: type[WireEnum]) -> JsonSchema:
    """The schema of an enumeration in its wire form."""
    return {"type": "string", "enum": [enum.unspecified(), *(member.wire for member in enum)]}


def _default(field: WireField) -> JsonSchema:
    return {} if field.default is None else {"default": encode_field(field, None)}
