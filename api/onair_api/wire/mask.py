"""`updateMask`: which fields of a body an update applies, for every resource alike. Pure.

The rules are `operations.md`, "Wire rules"; `decode` applies them.
"""

from __future__ import annotations

from onair_api.errors import InvalidArgument, Violation
from onair_api.wire.message import ABSENT, FieldKind, Message, WireField, spelling
from onair_crds.shapes import JsonObject

Path = tuple[WireField, ...]

MAX_PATHS = 200
MAX_DEPTH = 16
"""Fields that a name may go through; no message is as deep."""


def mask_paths(message: Message, body: JsonObject) -> tuple[list[Path], bool]:
    """The paths to apply, and whether the caller named them.

    Raises:
        InvalidArgument: the mask is no string, names too many fields, or what is no field.
    """
    mask = body.get("updateMask", body.get("update_mask"))
    if mask is None:
        return leaf_paths(message, body), False
    if not isinstance(mask, str):
        raise InvalidArgument(Violation("updateMask", "must be a string: a comma-separated list of fields"))
    names = names_of(mask)
    if not names:
        return leaf_paths(message, body), False
    found = [(name, resolve(message, name)) for name in names]
    if unknown := [name for name, path in found if path is None]:
        listed = ", ".join(repr(name[:100]) for name in unknown[:10])
        raise InvalidArgument(Violation("updateMask", f"{listed} names no field that can be updated"))
    return [path for _, path in found if path is not None], True


def names_of(mask: str) -> list[str]:
    """The names in a mask, without the spaces around them.

    Raises:
        InvalidArgument: there are too many; a mask may be as large as a body, so it is not split before.
    """
    if mask.count(",") <= MAX_PATHS:  # one may be at the end
        names = [stripped for name in mask.split(",") if (stripped := name.strip())]
        if len(names) <= MAX_PATHS:
            return names
    raise InvalidArgument(Violation("updateMask", f"must name at most {MAX_PATHS} fields"))


def resolve(message: Message, name: str) -> Path | None:
    """The fields that a dotted name goes through; None when it names none."""
    path: list[WireField] = []
    current: Message | None = message
    for part in name.split(".", MAX_DEPTH):
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
        value = field.given(body)
        if value is ABSENT or value is None:
            continue
        path = (*above, field)
        if field.kind is FieldKind.MESSAGE and field.message and isinstance(value, dict):
            below = leaf_paths(field.message, value, path)
            paths += below or [path]
        else:
            paths.append(path)
    return paths


def dotted(path: Path) -> str:
    """The path as callers write it."""
    return ".".join(field.name for field in path)
