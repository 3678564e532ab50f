"""Generated JSON: any values, and documents that are changed in one place."""

from __future__ import annotations

from hypothesis import strategies as st
from pydantic import JsonValue

TEXTS = st.text(max_size=12) | st.sampled_from(["\0", "a" * 3000, "rtmp://[", "http://127.1", "\u202e", "…"])
NUMBERS = st.integers() | st.floats() | st.sampled_from([2**31, 2**63, 2**64, -(2**63) - 1, 1e308])
SCALARS: st.SearchStrategy[JsonValue] = st.none() | st.booleans() | NUMBERS | TEXTS
JSON: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
)


def changed(document: JsonValue) -> st.SearchStrategy[JsonValue]:
    """The document with another value in one place, wherever that is."""
    found = [JSON]
    if isinstance(document, dict):
        found += [_member(document, name) for name in document]
    elif isinstance(document, list):
        found += [_item(document, index) for index in range(len(document))]
    return st.one_of(found)


def _member(document: dict[str, JsonValue], name: str) -> st.SearchStrategy[JsonValue]:
    return changed(document[name]).map(lambda value: {**document, name: value})


def _item(document: list[JsonValue], index: int) -> st.SearchStrategy[JsonValue]:
    return changed(document[index]).map(lambda value: [*document[:index], value, *document[index + 1 :]])
