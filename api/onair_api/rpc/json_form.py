"""Messages of protobuf from and to the JSON that services take and return, using only descriptors. Pure.

The names and forms are those of proto JSON, but for integers of 64 bits, which are numbers as over HTTP.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from onair_api.rpc.list_bounds import UNBOUNDED, ListBounds
from onair_api.rpc.well_known import VALUE, WELL_KNOWN
from onair_crds.runtime.steps import Steps, in_steps
from onair_crds.shapes import JsonObject

_ABSENT = object()


class Field(NamedTuple):
    """What is asked of a field for each message; descriptors are slow to ask."""

    name: str
    json_name: str
    repeated: bool
    presence: bool
    kind: int
    message: str
    """Full name of a message's type."""
    numbers: dict[str, int]
    """Of an enumeration."""
    names: dict[int, str]
    descriptor: Descriptor | None
    """Of a message."""


@functools.cache
def fields_of(descriptor: Descriptor) -> tuple[Field, ...]:
    """The fields of a message, as `fill` and `known_json` need them."""
    return tuple(_field(each) for each in descriptor.fields)


def _field(field: FieldDescriptor) -> Field:
    values = field.enum_type.values if field.enum_type else ()
    return Field(
        field.name,
        field.json_name,
        field.is_repeated,
        field.has_presence,
        field.cpp_type,
        field.message_type.full_name if field.message_type else "",
        {each.name: each.number for each in values},
        {each.number: each.name for each in values},
        field.message_type,
    )


_BOUNDS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_NUMBERS = frozenset(
    {
        *_BOUNDS,
        FieldDescriptor.CPPTYPE_DOUBLE,
        FieldDescriptor.CPPTYPE_FLOAT,
        FieldDescriptor.CPPTYPE_BOOL,
    }
)


def json_of(message: Message, bounds: ListBounds = UNBOUNDED) -> Steps[JsonObject]:
    """The fields that a message has, item by item of its lists: of one that is too long, one too many.

    A number or a boolean that cannot be absent is there, zero included; an empty text or list, and the zero
    of an enumeration, are not.

    Raises:
        InvalidArgument: a field holds no JSON, such as a number that is not finite.
    """
    found: JsonObject = {}
    for field in fields_of(message.DESCRIPTOR):
        value = getattr(message, field.name)
        below = bounds.of(field.json_name)
        if field.repeated:
            if not value:
                continue
            items = below.cut(value)
            if field.kind == FieldDescriptor.CPPTYPE_MESSAGE:
                found[field.json_name] = listed = []
                for each in items:
                    yield
                    listed.append((yield from _json_of_part(field, each, below)))
            else:
                found[field.json_name] = [_json_of_scalar(field, each) for each in items]
        elif not (message.HasField(field.name) if field.presence else value or field.kind in _NUMBERS):
            continue
        elif field.kind == FieldDescriptor.CPPTYPE_MESSAGE:
            found[field.json_name] = yield from _json_of_part(field, value, below)
        else:
            found[field.json_name] = _json_of_scalar(field, value)
    return found


def _json_of_part(field: Field, value: Any, bounds: ListBounds) -> Steps[Any]:
    well_known = WELL_KNOWN.get(field.message)
    return well_known.json(value, field.json_name) if well_known else json_of(value, bounds)


def _json_of_scalar(field: Field, value: Any) -> Any:
    match field.kind:
        case FieldDescriptor.CPPTYPE_ENUM:
            return field.names.get(value, value)
        case FieldDescriptor.CPPTYPE_FLOAT:
            return shortest(value)
    return value


def shortest(value: float) -> float:
    """A float of 32 bits as a person would write it: 29.97, which has more digits in 64 bits."""
    if not math.isfinite(value):
        return value
    for digits in (6, 7, 8):
        short = float(f"{value:.{digits}g}")
        if struct.pack("<f", short) == struct.pack("<f", value):
            return short
    return value


def known_json(
    fields: tuple[Field, ...], value: JsonObject, bounds: ListBounds = UNBOUNDED
) -> Steps[JsonObject]:
    """The fields of proto JSON that a message has, under one spelling and with names of enumerations.

    What is in them is as it came: services check it, as they do what comes over HTTP. It goes item by item of
    lists: of one that is too long, one too many.
    """
    found: JsonObject = {}
    for field in fields:
        given = value.get(field.json_name, value.get(field.name, _ABSENT))
        if given is _ABSENT:
            continue
        below = bounds.of(field.json_name)
        if not (field.numbers or (field.descriptor and field.message not in WELL_KNOWN)):
            found[field.json_name] = given
        elif field.repeated and isinstance(given, list):
            found[field.json_name] = listed = []
            for each in below.cut(given):
                yield
                listed.append((yield from _known(field, each, below)))
        else:
            found[field.json_name] = yield from _known(field, given, below)
    return found


def _known(field: Field, given: Any, bounds: ListBounds) -> Steps[Any]:
    if field.descriptor and isinstance(given, dict):
        return (yield from known_json(fields_of(field.descriptor), given, bounds))
    if field.numbers and isinstance(given, int) and not isinstance(given, bool):
        return field.names.get(given, given)
    return given


async def filled(message: Message, value: JsonObject) -> None:
    """Does the same as `fill`, and lets others run between the records of long lists."""
    for field, given in _given(message, value):
        if field.repeated and field.kind == FieldDescriptor.CPPTYPE_MESSAGE:
            items = getattr(message, field.name)
            async for each in in_steps(given):
                await filled(items.add(), each)
        else:
            _set(message, field, given)


def fill(message: Message, value: JsonObject) -> None:
    """Sets the fields of a message that a value of this service has; others are left out.

    Never fails, as what is stored is shown: JSON in a field is cut where the readers of protobuf give up,
    a number out of its type's bounds is at them, a text that is no time is left out.
    """
    for field, given in _given(message, value):
        _set(message, field, given)


def _given(message: Message, value: JsonObject) -> Iterator[tuple[Field, Any]]:
    for field in fields_of(message.DESCRIPTOR):
        given = value.get(field.json_name)
        if given is not None or (field.message == VALUE and field.json_name in value):
            yield field, given


def _set(message: Message, field: Field, given: Any) -> None:
    if field.repeated:
        _fill_list(field, getattr(message, field.name), given)
    elif field.kind == FieldDescriptor.CPPTYPE_MESSAGE:
        part = getattr(message, field.name)
        part.SetInParent()
        try:
            _fill_part(field, part, given)
        except ValueError:  # a manifest may hold any text as a time
            message.ClearField(field.name)
    else:
        setattr(message, field.name, _scalar(field, given))


def _fill_list(field: Field, items: Any, given: list[Any]) -> None:
    if field.kind == FieldDescriptor.CPPTYPE_MESSAGE:
        for each in given:
            _fill_part(field, items.add(), each)
    else:
        items.extend(_scalar(field, each) for each in given)


def _fill_part(field: Field, part: Any, given: Any) -> None:
    well_known = WELL_KNOWN.get(field.message)
    if well_known:
        well_known.fill(part, given)
    else:
        fill(part, given)


def _scalar(field: Field, value: Any) -> Any:
    match field.kind:
        case FieldDescriptor.CPPTYPE_ENUM:
            return field.numbers.get(value, 0)
        case FieldDescriptor.CPPTYPE_STRING | FieldDescriptor.CPPTYPE_BOOL:
            return value
        case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
            return float(value)
    least, most = _BOUNDS[field.kind]
    return min(max(int(value), least), most)
