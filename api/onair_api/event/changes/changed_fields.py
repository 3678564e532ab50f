"""Lists the fields of a resource that changed, as paths of its HTTP record. Pure."""

from __future__ import annotations

from typing import Any

from onair_api.wire.decode import joined
from onair_api.wire.encode import encode_field
from onair_api.wire.message import FieldKind, Message
from onair_api.writes.json_patch import same


def changed_paths(message: Message, before: Any, after: Any, path: str = "") -> list[str]:
    """The leaf paths whose values differ: what `updateMask` would name.

    A secret counts by its reference, so a new one is named without its value.
    A member of a select-one that another replaced is not named.
    """
    before, after = before if isinstance(before, dict) else {}, after if isinstance(after, dict) else {}
    found: list[str] = []
    for field in message.fields.values():
        name = joined(path, field.name)
        if field.secret:
            if before.get(field.reference) != after.get(field.reference):
                found.append(name)
            continue
        old, new = before.get(field.name), after.get(field.name)
        if same(old, new):
            continue
        if field.kind is FieldKind.MESSAGE and field.message:
            if new is None and old is not None and field.name in message.one_of:
                continue
            below = changed_paths(field.message, old, new, name)
            found += below or ([name] if (old is None) != (new is None) else [])
        elif not same(encode_field(field, old), encode_field(field, new)):
            found.append(name)
    return found
