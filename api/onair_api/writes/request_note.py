"""The annotation that a write over HTTP leaves on the object for the events that it causes."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass

import orjson

from onair_api.errors import InvalidArgument, Violation
from onair_crds.contract.labels import CREATED_ANNOTATION, REQUEST_ANNOTATION
from onair_crds.contract.times import format_time
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject


@dataclass(frozen=True)
class RequestNote:
    """Describes the request behind a write."""

    session_id: str | None = None
    metadata: JsonObject | None = None
    nonce: str | None = None
    """Names the write; without one each write gets a new one."""
    has_details: bool = False
    """More for its event is kept in Redis, under the nonce."""

    def annotations(self) -> dict[str, str]:
        """The annotation of one write; its nonce distinguishes this write from later ones."""
        note: JsonObject = {"nonce": self.nonce or new_nonce(), "details": self.has_details}
        if self.session_id:
            note["sessionId"] = self.session_id
        if self.metadata is not None:
            note["requestMetadata"] = self.metadata
        return {REQUEST_ANNOTATION: orjson.dumps(note).decode()}


@dataclass(frozen=True)
class StoredNote:
    """A request's note, decoded from an object."""

    nonce: str
    session_id: str | None
    metadata: JsonObject | None
    may_have_details: bool
    """Details may be kept in Redis; a note of a version that did not say so may have some."""


def note_of(entry: Entry | None) -> StoredNote | None:
    """The note on an object; None if there is none, or one that nobody here wrote."""
    text = ((entry.metadata.get("annotations") or {}) if entry else {}).get(REQUEST_ANNOTATION)
    if not isinstance(text, str):
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("nonce"), str):
        return None
    session_id, metadata = value.get("sessionId"), value.get("requestMetadata")
    return StoredNote(
        value["nonce"],
        session_id if isinstance(session_id, str) else None,
        metadata if isinstance(metadata, dict) else None,
        value.get("details") is not False,
    )


def new_nonce() -> str:
    """Names one write."""
    return secrets.token_hex(8)


def request_metadata(body: JsonObject, limit_bytes: int) -> JsonObject | None:
    """The caller's `requestMetadata`, in either spelling; None if it has none.

    Raises:
        InvalidArgument: it is no object, or too large to go with the event.
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
