"""Compares this process's wall clock with the API server's, by the times that this notes of writes."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from typing import Any

import structlog

from onair_crds.contract.times import parse_time
from onair_crds.shapes import Document

log = structlog.get_logger()

MOST_APART_S = 60.0
"""By how much the two clocks may differ: what is decided by ours is then as it was meant."""
PRECISION = dt.timedelta(seconds=1)
"""Of the times in `managedFields`, which are cut."""


def utc_now() -> dt.datetime:
    """The wall clock of this process."""
    return dt.datetime.now(dt.UTC)


class ClockCheck:
    """Knows by how much our wall clock is off, as of the last write of a Lease that was seen."""

    def __init__(self, now: Callable[[], dt.datetime] = utc_now) -> None:
        self.now = now
        self.ahead_s = 0.0
        """Negative where ours is behind; 0 where they agree as far as can be seen, or nothing is known."""
        self._offset_s = self._offset()

    def is_right(self) -> bool:
        """Whether the clocks agreed, and ours has not been set since."""
        set_by_s = self._offset() - self._offset_s
        return abs(self.ahead_s) <= MOST_APART_S and abs(set_by_s) <= MOST_APART_S

    def compare(self, lease: Document, since: dt.datetime) -> None:
        """Measures the difference by a Lease that was renewed, by whichever process, between `since` and now.

        Args:
            since: by our clock.
        """
        now = self.now()
        self._offset_s = self._offset()
        written = _renewal_written(lease)
        if written is None:
            self.ahead_s = 0.0
        elif since > written + PRECISION:
            self.ahead_s = (since - written - PRECISION).total_seconds()
        else:
            self.ahead_s = min(0.0, (now - written).total_seconds())

    def report(self) -> None:
        """Logs that this process does not lead, and why."""
        log.error(
            "clock.wrong",
            reason="this process does not lead, as its clock is not the API server's: set both by NTP",
            ahead_s=round(self.ahead_s),
        )

    def _offset(self) -> float:
        return self.now().timestamp() - time.monotonic()


def _renewal_written(lease: Document) -> dt.datetime | None:
    """When the API server took the present `renewTime`; None if it does not say."""
    entries: list[Any] = lease["metadata"].get("managedFields") or []
    for entry in entries:
        owned = (entry.get("fieldsV1") or {}).get("f:spec") or {}
        if "f:renewTime" in owned and entry.get("time"):
            return parse_time(str(entry["time"]))
    return None
