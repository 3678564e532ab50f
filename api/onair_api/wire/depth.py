"""Nesting depth of JSON."""

from __future__ import annotations

from typing import Any

from onair_crds.runtime.steps import Steps

AT_ONCE = 64
"""Containers that are looked into in a step."""


def is_deeper_than(value: Any, limit: int) -> Steps[bool]:
    """Whether containers are nested more than `limit` deep; level by level, never by recursion."""
    level = [value]
    for _ in range(limit):
        below: list[Any] = []
        for number, container in enumerate(level):
            if number % AT_ONCE == 0:
                yield
            children = container.values() if isinstance(container, dict) else container
            below += [child for child in children if isinstance(child, dict | list)]
        if not below:
            return False
        level = below
    return True
