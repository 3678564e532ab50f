"""The facade's log set-up: the id of the request is on each of its lines."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any, TextIO

import orjson

from onair_crds.runtime import logs

_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""C1 controls, ends of lines, and marks of direction: JSON escapes none of them."""

REQUEST: ContextVar[str] = ContextVar("request")
"""Id of the request that this task works for."""


def configure(level: str, file: TextIO | None = None) -> None:
    """Sends events, and warnings of libraries, to a file; standard output if none is given."""
    logs.configure(level, file, processors=[_with_request], serializer=_text)


def _text(event: object, **options: Any) -> str:
    """JSON without anything that ends a line or steers a terminal; a request's ids may hold any character."""
    text = orjson.dumps(event, **options).decode()
    return text if text.isascii() else _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _with_request(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if request := REQUEST.get(""):
        event["request"] = request
    return event
