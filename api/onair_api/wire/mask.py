"""`updateMask`: which fields of a body are applied, for every resource alike.

The rules are `operations.md`, "Wire rules". Merging works on the resource's
form, so fields that HTTP does not show (references, what a later version
stores) stay as they are. The models validate the result afterwards.
"""

from __future__ import annotations

import copy
from typing import Any

from onair_api.errors import InvalidArgument, Violation
from onair_api.wire.decode import ABSENT, Decoder, given
from onair_api.wire.message import Kind, Message, WireField, spelling
from onair_crds.shapes import JsonObject

Path = tuple[WireField, ...]

MAX_PATHS = 200


def mask_paths(message: Message, body: JsonObject) -> tuple[list[Path], bool]:
    """The paths to apply, and whether the caller named them.

    Raises:
        InvalidArgument: the mask is no string or names what is no field.
    """
    mask = body.get("updateMask", body.get("update_mask"))
    if mask is None:
        return leaf_paths(message, body), False
    if not isinstance(mask, str):
        raise InvalidArgument(Violation("updateMask", "must be a string: a comma-separated list of fields"))
    names = [name.strip() for name in mask.split(",") if name.strip()]
    if not names:
        return leaf_paths(message, body), False
    if len(names) > MAX_PATHS:
        raise InvalidArgument(Violation("updateMask", f"must name at most {MAX_PATHS} fields"))
    found = [(name, resolve(message, name)) for name in names]
    if unknown := [name for name, path in found if path is None]:
        listed = ", ".join(repr(name[:100]) for name in unknown[:10])
        raise InvalidArgument(Violation("updateMask", f"{listed} names no field that can be updated"))
    return [path for _, path in found if path is not None], True


def resolve(message: Message, name: str) -> Path | None:
    """The fields that a dotted name goes through; None when it names none."""
    path: list[WireField] = []
    current: Message | None = message
    for part in name.split("."):
        field = current.by_spelling.get(spelling(part.strip())) if current else None
        if field is None:
            return None
        path.append(field)
        current = field.message
    return tuple(path)


def leaf_paths(message: Message, body: JsonObject, above: Path = ()) -> list[Path]:
    """Every path that the body has a value for. An empty object is a leaf: it selects a member."""
    paths: list[Path] = []
    for field in message.fields.values():
        value = given(field, body)
        if value is ABSENT or value is None:
            continue
        path = (*above, field)
        if field.kind is Kind.MESSAGE and field.message and isinstance(value, dict):
            below = leaf_paths(field.message, value, path)
            paths += below or [path]
        else:
            paths.append(path)
    return paths


def merged(message: Message, spec: JsonObject, body: JsonObject, decoder: Decoder) -> JsonObject:
    """A copy of `spec` with the named fields of `body` applied; violations go to `decoder`."""
    paths, named = mask_paths(message, body)
    result = copy.deepcopy(spec)
    selected: dict[tuple[str, ...], set[str]] = {}
    for path in sorted(paths, key=len):
        present = _apply(result, path, body, decoder, replace=named)
        _note_selected(message, path, selected, present=present)
    for place, members in selected.items():
        _drop_others(message, result, place, members)
    return result


def _apply(spec: JsonObject, path: Path, body: JsonObject, decoder: Decoder, *, replace: bool) -> bool:
    """Sets or clears one path; says whether the body has a value for it."""
    target = path[-1]
    value: Any = body
    for depth, field in enumerate(path):
        if value is None or value is ABSENT:
            break
        if not isinstance(value, dict):
            decoder.violations.append(Violation(dotted(path[:depth]), "must be an object"))
            return True
        value = given(field, value)
    converted = decoder.field(target, value, dotted(path))
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


def dotted(path: Path) -> str:
    """The path as callers write it."""
    return ".".join(field.name for field in path)
