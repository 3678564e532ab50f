"""Decodes a request's JSON into the resource's form: all of it, or what a mask names over a stored form.

Collects what is wrong with every field. Types and enumerations are checked here; bounds, required fields
and one-ofs by the models afterwards (`model_violations`), as an update is only whole once it is merged.
Merging works on the resource's form, so fields that HTTP does not show (references, what a later version
stores) stay as they are.
"""

from __future__ import annotations

import copy
import math
import re
from typing import Any, TypeVar

import orjson

from onair_api.errors import MAX_VIOLATIONS, InvalidArgument, Violation
from onair_api.wire.mask import Path, dotted, mask_paths
from onair_api.wire.message import ABSENT, Absent, FieldKind, Message, WireField
from onair_api.wire.working_copy import working_copy
from onair_crds.resources.enums import WireEnum
from onair_crds.shapes import JsonObject

EnumType = TypeVar("EnumType", bound=WireEnum)

INTEGER_TEXT = re.compile(r"[+-]?[0-9]{1,19}")
NUMBER_TEXT = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?")


class Decoder:
    """Converts values; `violations` holds what could not be, up to one more than an error names."""

    def __init__(self, metadata_bytes: int) -> None:
        self.violations: list[Violation] = []
        self._wrong_values = 0
        self._metadata_bytes = metadata_bytes

    def message(self, message: Message, body: JsonObject, path: str = "") -> JsonObject:
        """The known fields of an object; unknown ones are ignored, as in proto JSON."""
        result = {}
        for field in message.fields.values():
            value = self.field(field, field.given(body), joined(path, field.name))
            if value is not ABSENT:
                result[field.name] = value
        return result

    def merged(self, message: Message, spec: JsonObject, body: JsonObject) -> JsonObject:
        """A copy of a stored form with the fields applied that the body's mask names, or else its leaves.

        Raises:
            InvalidArgument: the mask is no string, or names what is no field.
        """
        paths, named = mask_paths(message, body)
        result = working_copy(spec)
        selected: dict[tuple[str, ...], set[str]] = {}
        for path in sorted(paths, key=len):
            present = self._apply(result, path, body, replace=named)
            _note_selected(message, path, selected, present=present)
        for place, members in selected.items():
            _drop_others(message, result, place, members)
        return result

    def _apply(self, spec: JsonObject, path: Path, body: JsonObject, *, replace: bool) -> bool:
        """Sets or clears one path; says whether the body has a value for it."""
        target = path[-1]
        value: Any = body
        for depth, field in enumerate(path):
            if value is None or value is ABSENT:
                break
            if not isinstance(value, dict):
                self._wrong(dotted(path[:depth]), "must be an object")
                return True
            value = field.given(value)
        converted = self.field(target, value, dotted(path))
        if converted is ABSENT and (default := _default_member(path)) is not None:
            converted = default
        if converted is ABSENT:
            _clear(spec, path)
            return False
        parent = spec
        for field in path[:-1]:
            below = parent.get(field.name)
            parent[field.name] = parent = below if isinstance(below, dict) else {}
        if not replace and converted == {} and isinstance(parent.get(target.name), dict):
            return True  # an empty object without a mask selects its member and clears nothing
        parent[target.name] = converted
        if target.secret:
            parent.pop(target.reference, None)
        return True

    def field(self, field: WireField, value: Any, path: str) -> Any:
        """One value, or ABSENT; a wrong one is ABSENT too, and a violation."""
        if value is None or value is ABSENT:
            return ABSENT
        match field.kind:
            case FieldKind.MESSAGE:
                return self._message(field, value, path)
            case FieldKind.LIST:
                return self._list(field, value, path)
            case FieldKind.ENUM:
                return self._enum(field, value, path)
            case FieldKind.INTEGER:
                return self._integer(value, path)
            case FieldKind.NUMBER:
                return self._number(value, path)
            case FieldKind.BOOLEAN:
                return value if isinstance(value, bool) else self._wrong(path, "must be true or false")
            case FieldKind.STRING:
                return self._string(field, value, path)
            case FieldKind.ANY:
                return self._any(value, path)

    def _wrong(self, path: str, description: str) -> Absent:
        self._wrong_values += 1
        if len(self.violations) <= MAX_VIOLATIONS:
            self.violations.append(Violation(path, description))
        return ABSENT

    def _message(self, field: WireField, value: Any, path: str) -> Any:
        if not isinstance(value, dict) or field.message is None:
            return self._wrong(path, "must be an object")
        return self.message(field.message, value, path)

    def _list(self, field: WireField, value: Any, path: str) -> Any:
        if not isinstance(value, list) or field.item is None:
            return self._wrong(path, "must be an array")
        most = field.node["maxItems"]
        if len(value) > most:
            return self._wrong(path, f"must have at most {most} items")
        items = []
        for i, item in enumerate(value):
            before = self._wrong_values
            read = self.field(field.item, item, f"{path}[{i}]")
            if read is not ABSENT:
                items.append(read)
            elif self._wrong_values > before:
                items.append(None)  # holds its place, so that the model counts the others as the caller does
        return items

    def _enum(self, field: WireField, value: Any, path: str) -> Any:
        if field.enum is None or not isinstance(value, str):
            return self._wrong(path, "must be a string that names a value of the enumeration")
        try:
            member = field.enum.from_wire(value)
        except ValueError as error:
            return self._wrong(path, str(error))
        return ABSENT if member is None else member.value

    def _integer(self, value: Any, path: str) -> Any:
        if isinstance(value, str) and INTEGER_TEXT.fullmatch(value):
            return int(value)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return self._wrong(path, "must be an integer, as a number or a string")

    def _number(self, value: Any, path: str) -> Any:
        if isinstance(value, str) and NUMBER_TEXT.fullmatch(value):
            value = float(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return int(value) if float(value).is_integer() and abs(value) < 2**53 else value
        return self._wrong(path, "must be a finite number")

    def _string(self, field: WireField, value: Any, path: str) -> Any:
        if not isinstance(value, str):
            return self._wrong(path, "must be a string")
        if "\0" in value:
            return self._wrong(path, "must not contain NUL characters")
        if value == "":
            if not field.required:
                return ABSENT
            if field.secret:  # no model sees it, as a Secret holds it
                return self._wrong(path, "must not be empty")
        return value

    def _any(self, value: Any, path: str) -> Any:
        if len(orjson.dumps(value)) > self._metadata_bytes:
            return self._wrong(path, f"must be at most {self._metadata_bytes} bytes as JSON")
        return value


def _default_member(path: Path) -> JsonObject | None:
    """A member of a select-one whose default selects it: named without a value, it is selected as that."""
    if len(path) < 2 or not (path[-2].message and path[-2].message.one_of) or not path[-2].default:
        return None
    member: JsonObject | None = path[-2].default.get(path[-1].name)
    return copy.deepcopy(member)


def _clear(spec: JsonObject, path: Path) -> None:
    parent: Any = spec
    for field in path[:-1]:
        parent = parent.get(field.name)
        if not isinstance(parent, dict):
            return
    parent.pop(path[-1].name, None)
    parent.pop(path[-1].reference, None)


def _note_selected(
    message: Message, path: Path, selected: dict[tuple[str, ...], set[str]], *, present: bool
) -> None:
    """A path into a one-of's member selects it, and so does a value for the member itself."""
    current: Message | None = message
    for depth, field in enumerate(path):
        if current and field.name in current.one_of and (present or depth < len(path) - 1):
            place = tuple(f.name for f in path[:depth])
            selected.setdefault(place, set()).add(field.name)
        current = field.message


def _drop_others(message: Message, spec: JsonObject, place: tuple[str, ...], members: set[str]) -> None:
    parent: Any = spec
    current: Message | None = message
    for name in place:
        parent = parent.get(name) if isinstance(parent, dict) else None
        current = current.fields[name].message if current else None
    if not isinstance(parent, dict) or current is None:
        return
    for name in current.one_of:
        if name not in members:
            parent.pop(name, None)


def enum_field(message: JsonObject, name: str, enum: type[EnumType]) -> EnumType | None:
    """One enumeration of a message without a model; None if it is absent, or has the zero value.

    Raises:
        InvalidArgument: it names no value of the enumeration.
    """
    try:
        return enum.from_wire(message.get(name) or enum.unspecified())
    except ValueError as error:
        raise InvalidArgument(Violation(name, str(error))) from None


def joined(path: str, name: str) -> str:
    """A dotted path, one level deeper."""
    return f"{path}.{name}" if path else name
