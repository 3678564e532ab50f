"""The facade's log set-up: the id of the request is on each of its lines."""

from __future__ import annotations

from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any, TextIO

import orjson

from onair_crds.runtime import logs

REQUEST: ContextVar[str] = ContextVar("request")
"""Id of the request that this task works for."""


def configure(level: str, file: TextIO | None = None) -> None:
    """Sends events, and warnings of libraries, to a file; standard output if none is given."""
    logs.configure(level, file, processors=[_with_request], serializer=_text)


def _text(event: object, **options: Any) -> str:
    return orjson.dumps(event, **options).decode()


def _with_request(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if request := REQUEST.get(""):
        event["request"] = request
    return event
