"""A live source as HTTP shows it."""

from __future__ import annotations

from typing import Any

from onair_api.cache.view import Entry
from onair_api.wire.message import message_of
from onair_api.wire.writing import write_message
from onair_crds.source import SourceSpec

SOURCE_MESSAGE = message_of(SourceSpec).only("metadata", "address", "preview")


def source_record(entry: Entry) -> dict[str, Any]:
    record: dict[str, Any] | None = entry.records.get("wire")
    if record is None:
        written = write_message(SOURCE_MESSAGE, entry.spec)
        record = entry.records["wire"] = {
            "collectionId": entry.spec.get("collectionId"),
            "sourceId": entry.name,
            **written,
        }
    return record
