"""Log set-up: one JSON object per line, of libraries too, with ids of resources. No secret, token or body.

Needs structlog; a process that must start at once writes with `stderr_log`.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, TextIO

import structlog
from structlog.typing import Processor

from onair_crds.runtime.stderr_log import FIRST_KEYS


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
    shared: list[Processor] = [
        *processors,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Processor] = [
        structlog.processors.format_exc_info,
        _in_order,
        structlog.processors.JSONRenderer(serializer=_tolerant(serializer)),
    ]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.WriteLoggerFactory(file=file),
    )
    of_libraries = logging.StreamHandler(file)
    of_libraries.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    logging.basicConfig(level=max(threshold, logging.WARNING), handlers=[of_libraries])


def _in_order(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The order of keys in every program: time, level, event, then what it is about."""
    first = {key: event.pop(key) for key in FIRST_KEYS if key in event}
    return {**first, **event}


def _tolerant(serializer: Callable[..., str]) -> Callable[..., str]:
    """Writes what is no JSON value as its text; structlog would write its `repr`."""

    def serialize(event: Any, **_: Any) -> str:
        return serializer(event, default=str)

    return serialize
