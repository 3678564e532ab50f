"""Logs: one JSON line per fact. Never a secret, a token or a body."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any, TextIO

import orjson
import structlog

REQUEST: ContextVar[str] = ContextVar("request")
"""Id of the request that this task works for; in each of its log lines."""


def configure(level: str, file: TextIO | None = None) -> None:
    """Sends structlog's events, and what libraries warn of, to a file; standard output if none is given."""
    file = file or sys.stdout
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            _with_request,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_text),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.WriteLoggerFactory(file=file),
    )
    logging.basicConfig(level=max(threshold, logging.WARNING), stream=file, format="%(message)s")


def _text(event: object, **_: object) -> str:
    return orjson.dumps(event, default=str).decode()


def _with_request(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if request := REQUEST.get(""):
        event["request"] = request
    return event
