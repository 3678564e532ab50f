"""Encodes the resource's form as a response's JSON. Pure, and never fails: what is stored is shown."""

from __future__ import annotations

from typing import Any

from onair_api.wire.message import ABSENT, FieldKind, Message, WireField
from onair_crds.shapes import JsonObject


def encode_message(message: Message, document: JsonObject) -> JsonObject:
    """An object with its defaults: arrays and booleans always, unset optional fields never, no secrets."""
    result = {}
    for field in message.fields.values():
        if field.secret:
            continue
        value = encode_field(field, document.get(field.name))
        if value is not ABSENT:
            result[field.name] = value
    return result


def encode_field(field: WireField, value: Any) -> Any:
    """One value in its wire form, or ABSENT."""
    if value is None:
        value = field.default
    match field.kind:
        case FieldKind.LIST:
            return [encode_field(field.item, item) for item in value or []] if field.item else []
        case FieldKind.ANY:
            return {} if value is None else value
        case FieldKind.BOOLEAN:
            return bool(value)
    if value is None:
        return ABSENT
    match field.kind:
        case FieldKind.MESSAGE if field.message is not None and isinstance(value, dict):
            return encode_message(field.message, value)
        case FieldKind.ENUM if field.enum is not None:
            return wire_enum(field, value)
        case FieldKind.INTEGER if field.as_string:
            return str(value)
    return value


def wire_enum(field: WireField, value: Any) -> str:
    """The wire form of a stored value; one that a newer version stored is shown as unspecified."""
    if field.enum is None:
        return str(value)
    return next((m.wire for m in field.enum if m.value == value), field.enum.unspecified())
