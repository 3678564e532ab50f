"""From two versions of a spec to the JSON patch between them. Pure.

Not a merge patch: that merges free-form metadata, loses nulls in it, and
leaves both members of a one-of.
"""

from __future__ import annotations

from typing import Any

import orjson

from onair_api.wire.working_copy import FREE_FORM
from onair_crds.runtime.steps import Steps
from onair_crds.shapes import Document, JsonObject, JsonPatch

KEYED = {"layers": "id"}
"""Lists whose items have a name of their own: only what changed in them is sent."""

MAX_OPERATIONS = 2000
"""Above this a keyed list is sent whole; the API server takes 10,000."""


def compare_and_swap(document: Document, operations: JsonPatch) -> JsonPatch:
    """The operations, applied only to this very version of the object."""
    version = document["metadata"]["resourceVersion"]
    return [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}, *operations]


def spec_changes(old: JsonObject, new: JsonObject, path: str = "/spec") -> Steps[JsonPatch]:
    """The operations that turn `old` into `new`; none if they are equal."""
    changes: JsonPatch = [{"op": "remove", "path": f"{path}/{escaped(k)}"} for k in old if k not in new]
    for key, value in new.items():
        place = f"{path}/{escaped(key)}"
        before = old.get(key)
        items = (yield from item_changes(before, value, place, KEYED[key])) if key in KEYED else None
        if items is not None:
            changes += items
        elif key in old and same(before, value):
            continue
        elif isinstance(before, dict) and isinstance(value, dict) and key not in FREE_FORM:
            changes += yield from spec_changes(before, value, place)
        else:
            changes.append({"op": "add", "path": place, "value": value})
    return changes


def item_changes(old: Any, new: Any, path: str, key: str) -> Steps[JsonPatch | None]:
    """The operations that turn one keyed list into another; None if replacing all of it is simpler."""
    if not isinstance(old, list) or not isinstance(new, list):
        return None
    wanted = {item[key]: item for item in new}
    kept = [item for item in old if item[key] in wanted]
    if len(wanted) < len(new) or [item[key] for item in new[: len(kept)]] != [item[key] for item in kept]:
        return None  # another order, or a name that stands for two
    removed = [place for place, item in enumerate(old) if item[key] not in wanted]
    changes: JsonPatch = [{"op": "remove", "path": f"{path}/{place}"} for place in reversed(removed)]
    for place, item in enumerate(kept):
        if wanted[item[key]] is not item:
            yield
            changes += yield from spec_changes(item, wanted[item[key]], f"{path}/{place}")
    changes += [{"op": "add", "path": f"{path}/-", "value": item} for item in new[len(kept) :]]
    return changes if len(changes) <= MAX_OPERATIONS else None


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: Python's True is no 1."""
    if one is other:
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if one != other:
        return False
    return not isinstance(one, dict | list) or _are_written_alike(one, other) or _same_parts(one, other)


def _are_written_alike(one: Any, other: Any) -> bool:
    """What is equal mostly is, and to see that takes a tenth of the time of a look at each part."""
    try:
        text, other_text = (orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in (one, other))
    except orjson.JSONEncodeError:  # integers of more than 64 bits
        return False
    return text == other_text


def _same_parts(one: Any, other: Any) -> bool:
    """Whether equal values have true and false in the same places."""
    if one is other:
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    if isinstance(one, dict):
        return all(_same_parts(each, other[key]) for key, each in one.items())
    if isinstance(one, list):
        return all(map(_same_parts, one, other))
    return True


def annotation_changes(document: Document, annotations: dict[str, str]) -> JsonPatch:
    """Sets annotations, whether there were any before or not."""
    if not document["metadata"].get("annotations"):
        return [{"op": "add", "path": "/metadata/annotations", "value": annotations}]
    return [
        {"op": "add", "path": f"/metadata/annotations/{escaped(name)}", "value": value}
        for name, value in annotations.items()
    ]


def escaped(key: str) -> str:
    """A key within a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
