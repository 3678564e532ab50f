"""A large list is taken apart wherever its parts are cut, and an item that is too large is left out of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onair_crds.room_server.large_list import MAX_ITEM_BYTES, LargeList, OversizedItem

ITEMS: list[dict[str, Any]] = [
    {"identity": "anna", "metadata": '{"a":"}]{[\\" \\\\"}', "tracks": [{"name": "[["}, {}]},
    {},
    {"identity": 'b"e\\n', "attributes": {"k": "\x01\u00e9\\"}},
]


def taken(text: bytes, size: int) -> tuple[list[Any], LargeList]:
    """The items of a text that comes in parts of this size."""
    large = LargeList()
    parts = (text[at : at + size] for at in range(0, len(text), size))
    return [item for part in parts for item in large.items(part)], large


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 1000])
def test_items_are_the_same_however_the_text_is_cut(size: int) -> None:
    for indent in (None, 1):
        text = json.dumps({"participants": ITEMS}, indent=indent).encode()
        items, large = taken(text, size)
        assert items == ITEMS
        assert large.is_whole
        assert not taken(text[:-1], size)[1].is_whole


@pytest.mark.parametrize("size", [4096, 65_536, 8 * MAX_ITEM_BYTES])
def test_of_an_item_that_is_too_large_the_identity_is_known_and_the_others_are_whole(size: int) -> None:
    identity = 'e"v}e'
    tracks = [{"name": "\x01" * 1000 + '"]}'} for _ in range(MAX_ITEM_BYTES // 3000)]
    large_one = {"sid": "PA_1", "identity": identity, "tracks": tracks}
    text = json.dumps({"participants": [ITEMS[0], large_one, {"tracks": tracks}, ITEMS[2]]}).encode()
    items, large = taken(text, size)
    assert items == [ITEMS[0], OversizedItem(identity), OversizedItem(""), ITEMS[2]]
    assert large.taken_bytes == sum(len(json.dumps(each)) for each in (ITEMS[0], ITEMS[2]))


@pytest.mark.parametrize("text", [b'{"a":[{x}]}', b'{"a":[[1]]}', b'{"a":{"b":[]}}'])
def test_what_is_no_list_of_objects_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        taken(text, 1000)
