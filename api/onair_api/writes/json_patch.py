"""From two versions of a spec to the JSON patch between them. Pure.

Not a merge patch: that merges free-form metadata, loses nulls in it, and
leaves both members of a one-of.
"""

from __future__ import annotations

from typing import Any

from onair_crds.client import Document, JsonPatch

FREE_FORM = frozenset({"metadata", "data"})
"""Fields that are replaced whole."""


def compare_and_swap(document: Document, operations: JsonPatch) -> JsonPatch:
    """The operations, applied only to this very version of the object."""
    version = document["metadata"]["resourceVersion"]
    return [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}, *operations]


def spec_changes(old: dict[str, Any], new: dict[str, Any], path: str = "/spec") -> JsonPatch:
    """What makes `new` of `old`; nothing if they are equal."""
    changes: JsonPatch = [{"op": "remove", "path": f"{path}/{escaped(k)}"} for k in old if k not in new]
    for key, value in new.items():
        place = f"{path}/{escaped(key)}"
        before = old.get(key)
        if key in old and same(before, value):
            continue
        if isinstance(before, dict) and isinstance(value, dict) and key not in FREE_FORM:
            changes += spec_changes(before, value, place)
        else:
            changes.append({"op": "add", "path": place, "value": value})
    return changes


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: Python's True is no 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


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
