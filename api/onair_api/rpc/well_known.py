"""Messages of protobuf's own that have a JSON form of their own: values, times, masks. Pure."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from google.protobuf.json_format import ParseError

from onair_api.errors import InvalidArgument, Violation
from onair_crds.runtime.steps import Steps
from onair_crds.shapes import JsonObject

DEEPEST = 30
"""Levels of JSON within a field: each takes three of the hundred levels that protobuf's parsers follow."""
EXACT_INTEGERS = 2**53
"""Up to which a double holds every integer."""


STEP = 64
"""Values of one list or object that are converted at a time."""
_CONTAINERS = ("struct_value", "list_value")


def _json_of_value(value: Any, name: str) -> Steps[Any]:
    kind = value.WhichOneof("kind")
    if kind in _CONTAINERS:
        return (yield from _json_of_container(value, kind, name))
    return _json_of_scalar(value, kind, name)


def _json_of_container(value: Any, kind: str, name: str) -> Steps[Any]:
    if kind == "struct_value":
        return (yield from _json_of_struct(value.struct_value, name))
    return (yield from _json_of_list(value.list_value, name))


def _json_of_struct(value: Any, name: str) -> Steps[JsonObject]:
    found: JsonObject = {}
    for key, each in value.fields.items():
        if not len(found) % STEP:
            yield
        kind = each.WhichOneof("kind")
        found[key] = (
            (yield from _json_of_container(each, kind, name))
            if kind in _CONTAINERS
            else _json_of_scalar(each, kind, name)
        )
    return found


def _json_of_list(value: Any, name: str) -> Steps[list[Any]]:
    found: list[Any] = []
    for each in value.values:
        if not len(found) % STEP:
            yield
        kind = each.WhichOneof("kind")
        found.append(
            (yield from _json_of_container(each, kind, name))
            if kind in _CONTAINERS
            else _json_of_scalar(each, kind, name)
        )
    return found


def _json_of_scalar(value: Any, kind: str | None, name: str) -> Any:
    match kind:
        case "number_value":
            return _number(value.number_value, name)
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
    return None


def _number(value: float, name: str) -> float:
    if not math.isfinite(value):
        raise InvalidArgument(Violation(name, "must not hold a number that is not finite"))
    return int(value) if value.is_integer() and abs(value) <= EXACT_INTEGERS else value


def _fill_value(part: Any, given: Any, level: int = 0) -> None:
    match given:
        case bool():
            part.bool_value = given
        case int() | float():
            part.number_value = _double(given)
        case str():
            part.string_value = given
        case dict() if level < DEEPEST:
            part.struct_value.SetInParent()
            _fill_struct(part.struct_value, given, level + 1)
        case list() if level < DEEPEST:
            part.list_value.SetInParent()
            _fill_values(part.list_value, given, level + 1)
        case _:
            part.null_value = 0


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # metadata may hold integers of any size
        return sys.float_info.max if value > 0 else -sys.float_info.max


def _fill_struct(part: Any, given: JsonObject, level: int = 0) -> None:
    for key, each in given.items():
        _fill_value(part.fields[key], each, level)


def _fill_values(part: Any, given: list[Any], level: int = 0) -> None:
    for each in given:
        _fill_value(part.values.add(), each, level)


def _fill_time(part: Any, given: str) -> None:
    part.FromJsonString(given)


def _json_of_time(value: Any, name: str) -> Steps[str]:
    yield
    try:
        return str(value.ToJsonString())
    except (ParseError, ValueError, OverflowError):
        raise InvalidArgument(Violation(name, "must be a time from year 1 to 9999")) from None


def _json_of_mask(value: Any, name: str) -> Steps[str]:
    yield
    return ",".join(value.paths)


def _fill_mask(part: Any, given: str) -> None:
    part.paths.extend(given.split(","))


class WellKnown(NamedTuple):
    json: Callable[[Any, str], Steps[Any]]
    """Of a message, and the name of the field that has it."""
    fill: Callable[[Any, Any], None]
    """A message, with JSON."""


VALUE = "google.protobuf.Value"

WELL_KNOWN = {
    VALUE: WellKnown(_json_of_value, _fill_value),
    "google.protobuf.Struct": WellKnown(_json_of_struct, _fill_struct),
    "google.protobuf.ListValue": WellKnown(_json_of_list, _fill_values),
    "google.protobuf.Timestamp": WellKnown(_json_of_time, _fill_time),
    "google.protobuf.FieldMask": WellKnown(_json_of_mask, _fill_mask),
}
