"""Decodes JSON that is nested more deeply than Python's decoder goes: anybody's object may be in a list."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

DEEPEST = 200
"""Levels that are kept of what is nested too deeply; the HTTP interface takes fewer."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_OPENS, _CLOSES = frozenset(b"[{"), frozenset(b"]}")


def loads(payload: bytes) -> Any:
    """The value that JSON stands for; null for what is below `DEEPEST` where it is nested too deeply.

    The API server takes 10,000 levels in fields of any form.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return orjson.loads(payload)
    except orjson.JSONDecodeError:
        # Deeper than 1,024 levels, or half a surrogate pair, which Python takes
        return _loads_deep(payload)


def _loads_deep(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except RecursionError:
        return json.loads(_cut(payload))


def _cut(payload: bytes) -> bytes:
    kept: list[bytes] = []
    level = start = 0
    for token in _TOKEN.finditer(payload):
        first = payload[token.start()]
        if first in _OPENS:
            level += 1
            if level == DEEPEST + 1:
                kept.append(payload[start : token.start()])
        elif first in _CLOSES:
            if level == DEEPEST + 1:
                kept.append(b"null")
                start = token.end()
            level -= 1
    return b"".join([*kept, payload[start:]]) if level == 0 else b""
