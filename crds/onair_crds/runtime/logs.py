"""Log set-up: one JSON object per event, with the ids of resources. Never a secret, a token or a body.

Needs structlog; a process that must start at once writes with `stderr_log`.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import structlog
from structlog.typing import Processor


def configure(
    level: str,
    file: TextIO | None = None,
    *,
    processors: Sequence[Processor] = (),
    serializer: Callable[..., str] = json.dumps,
) -> None:
    """Sends structlog's events, and warnings of libraries, to a file; standard output if none is given.

    Args:
        level: least level that is logged: DEBUG, INFO, WARNING or ERROR.
        processors: add fields to every event.
        serializer: makes the text of an event.
    """
    file = file or sys.stdout
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            *processors,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_tolerant(serializer)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.WriteLoggerFactory(file=file),
    )
    logging.basicConfig(
        level=max(threshold, logging.WARNING), stream=file, format="%(levelname)s %(name)s %(message)s"
    )


def _tolerant(serializer: Callable[..., str]) -> Callable[..., str]:
    """Writes what is no JSON value as its text; structlog would write its `repr`."""

    def serialize(event: Any, **_: Any) -> str:
        return serializer(event, default=str)

    return serialize
