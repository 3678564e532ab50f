"""Times as text: RFC 3339, UTC, with Z."""

from __future__ import annotations

import datetime as dt
from typing import Literal


def parse_time(text: str) -> dt.datetime:
    """An RFC 3339 time as an aware datetime."""
    return dt.datetime.fromisoformat(text)


def format_time(
    moment: dt.datetime, precision: Literal["seconds", "milliseconds", "microseconds"] = "milliseconds"
) -> str:
    """RFC 3339 UTC with Z."""
    return moment.astimezone(dt.UTC).isoformat(timespec=precision).replace("+00:00", "Z")
