"""Logs errors that nothing handles, without what they may quote."""

from __future__ import annotations

import traceback

import structlog

log = structlog.get_logger()


def log_unexpected(event: str, error: Exception, **fields: str) -> None:
    """Logs where it happened, never its text: that may quote what was sent."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    log.error(
        event,
        **fields,
        error=type(error).__name__,
        at=[f"{f.filename.rsplit('/site-packages/', 1)[-1]}:{f.lineno} {f.name}" for f in frames],
    )
