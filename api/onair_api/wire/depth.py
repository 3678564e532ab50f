"""Nesting depth of JSON."""

from __future__ import annotations

from typing import Any


def is_deeper_than(value: Any, limit: int) -> bool:
    """Whether containers are nested more than `limit` deep; level by level, never by recursion."""
    level = [value]
    for _ in range(limit):
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
