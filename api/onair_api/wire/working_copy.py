"""A copy of a stored spec for a change to work on. Pure.

Metadata may have a hundred thousand parts, so what does not change it neither copies nor compares it.
"""

from __future__ import annotations

from typing import Any

from onair_crds.shapes import JsonObject

FREE_FORM = frozenset({"metadata", "data"})
"""Fields that are replaced whole, and never changed in place."""


def working_copy(spec: JsonObject) -> JsonObject:
    """A copy that may be changed in place, but for what is in free-form fields: that is the stored one."""
    return {name: value if name in FREE_FORM else _copy(value) for name, value in spec.items()}


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return working_copy(value)
    return [_copy(each) for each in value] if isinstance(value, list) else value
