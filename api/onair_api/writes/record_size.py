"""Bytes that resources take in responses, without making those, and in memory. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import orjson

from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, GUEST_CODE, PROJECT, SOURCE
from onair_api.wire.occurrences import count
from onair_crds.kube.store import Change, Entry
from onair_crds.shapes import Document, JsonObject

LARGEST_OBJECT = 1_572_864
"""Bytes that the API server stores of one object."""
SHOWN_WITH_COLLECTION = frozenset({COLLECTION, PROJECT, SOURCE, DESTINATION, GUEST_CODE})
VALUE_BYTES = 64
"""What each array, object, and value of one takes in memory, beside its JSON: a list takes 56, a text 49."""
LAYOUT_UNIT = 4096
"""Layouts count in units of this, so that in one whose quota is used up layers can be moved: a coordinate may
have one more digit."""
ADDED_BYTES = 256
"""What a record has beyond what is stored: ids, defaults, addresses, secrets."""
_COMMANDS = ("broadcast", "room", "sources")
"""Parts of a project that are not shown. None of them counts: a stop is never refused."""
_BYTES = "record bytes"
_LAYOUT_BYTES = "layout bytes"


def record_bytes(entry: Entry) -> int:
    """About what the record of one object takes as JSON, without those of others."""
    size: int | None = entry.records.get(_BYTES)
    if size is None:
        size = entry.records[_BYTES] = document_bytes(entry.document)
    return size


def document_bytes(document: Document) -> int:
    """The same of an object that is not stored yet."""
    stored: JsonObject = document.get("spec") or document.get("data") or {}
    return ADDED_BYTES + json_bytes({name: part for name, part in stored.items() if name not in _COMMANDS})


def json_bytes(value: Any) -> int:
    """Bytes of a value as JSON."""
    text = _json(value)
    return LARGEST_OBJECT if text is None else len(text)


def memory_bytes(value: Any) -> int:
    """About the bytes of memory that a value takes: for an empty array thirty times its JSON.

    Commas and braces in strings count as well, as looking at each value would take much longer.
    """
    text = _json(value)
    if text is None:
        return LARGEST_OBJECT
    return len(text) + VALUE_BYTES * sum(count(text, each) for each in (b"[", b"{", b","))


def layout_bytes(entry: Entry) -> int:
    """About what a layout takes in memory."""
    size: int | None = entry.records.get(_LAYOUT_BYTES)
    if size is None:
        size = entry.records[_LAYOUT_BYTES] = layout_spec_bytes(entry.spec)
    return size


def layout_spec_bytes(spec: JsonObject) -> int:
    """The same of a spec that is not stored yet."""
    return -(-memory_bytes(spec) // LAYOUT_UNIT) * LAYOUT_UNIT


def _json(value: Any) -> bytes | None:
    """A value as JSON; None where it is nested too deeply for anybody to say how large it is."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # integers of more than 64 bits
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        except RecursionError:  # written by kubectl
            return None


class SourceUses:
    """How many projects each source is in: its record is shown with each of them."""

    def __init__(self) -> None:
        self._uses: Counter[tuple[str, str]] = Counter()

    def __bool__(self) -> bool:
        return bool(self._uses)

    def of(self, source: Entry) -> int:
        return self._uses[str(source.spec.get("collectionId")), source.name]

    def follow(self, change: Change) -> list[str]:
        """Takes the change of a project; gives the sources that are in more or fewer now."""
        before, after = _used_in(change.before), _used_in(change.after)
        gained, lost = after - before, before - after
        for keys, sign in ((gained, 1), (lost, -1)):
            for key in keys:
                self._uses[key] += sign
                if not self._uses[key]:
                    del self._uses[key]
        return [source_id for _, source_id in gained | lost]


def _used_in(project: Entry | None) -> set[tuple[str, str]]:
    """The sources that are shown with a project, by collection and name."""
    if project is None or project.deleting:
        return set()
    collection_id = str(project.spec.get("collectionId"))
    return {(collection_id, source_id) for source_id in source_ids(project.spec)}


def source_ids(project: JsonObject) -> Iterable[str]:
    """The sources that a project's spec names."""
    return (str(each["sourceId"]) for each in project.get("sources") or ())
