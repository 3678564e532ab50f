"""What a write over HTTP leaves on the object for the events that it causes."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass
from typing import Any

import orjson

from onair_api.errors import InvalidArgument, Violation
from onair_crds.contract.labels import CREATED_ANNOTATION, REQUEST_ANNOTATION
from onair_crds.contract.times import format_time


@dataclass(frozen=True)
class RequestNote:
    session_id: str | None = None
    metadata: dict[str, Any] | None = None
    nonce: str | None = None
    """Given where something else has to be kept under it; otherwise each write has a new one."""

    def annotations(self) -> dict[str, str]:
        """The annotation of one write; the nonce tells this write from what comes later."""
        note: dict[str, Any] = {"nonce": self.nonce or new_nonce()}
        if self.session_id:
            note["sessionId"] = self.session_id
        if self.metadata is not None:
            note["requestMetadata"] = self.metadata
        return {REQUEST_ANNOTATION: orjson.dumps(note).decode()}


def new_nonce() -> str:
    """Names one write."""
    return secrets.token_hex(8)


def request_metadata(body: dict[str, Any], limit_bytes: int) -> dict[str, Any] | None:
    """The caller's `requestMetadata`, in either spelling.

    Raises:
        InvalidArgument: it is no object, or too large to travel with the event.
    """
    value = body.get("requestMetadata", body.get("request_metadata"))
    if value is None:
        return None
    if not isinstance(value, dict):
        raise InvalidArgument(Violation("requestMetadata", "must be an object"))
    if len(orjson.dumps(value)) > limit_bytes:
        raise InvalidArgument(Violation("requestMetadata", f"must be at most {limit_bytes} bytes as JSON"))
    return value


class CreationClock:
    """Times of creation that never repeat within this process, so lists keep their order."""

    def __init__(self) -> None:
        self._last = dt.datetime.min.replace(tzinfo=dt.UTC)

    def annotations(self, now: dt.datetime) -> dict[str, str]:
        self._last = max(now, self._last + dt.timedelta(microseconds=1))
        return {CREATED_ANNOTATION: format_time(self._last, "microseconds")}
