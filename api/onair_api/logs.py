"""Logs: one JSON line per fact. Never a secret, a token or a body."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import orjson
import structlog


def configure(level: str, file: TextIO | None = None) -> None:
    """Sends structlog's events, and what libraries warn of, to a file; standard output if none is given."""
    file = file or sys.stdout
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
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
