"""What a room's token goes back to, in the token."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.auth.identity import ApiKeyRef
from onair_api.live.room.token_origin import TokenOrigin, origin_of, origin_text


@pytest.mark.parametrize("key", [None, ApiKeyRef("api-key-1", "uid/1")])
def test_it_is_read_as_it_was_written(key: ApiKeyRef | None) -> None:
    origin = TokenOrigin(("one", "two"), key, "a key's id")
    assert origin_of({"roomConfig": {"name": origin_text(origin)}}) == origin


def test_one_from_before_it_named_the_signing_key_names_none() -> None:
    origin = TokenOrigin(("one",), ApiKeyRef("api-key-1", "uid"), "")
    assert origin_of({"roomConfig": {"name": '[["one"],["api-key-1","uid"]]'}}) == origin


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"roomConfig": "all"},
        {"roomConfig": {}},
        *({"roomConfig": {"name": name}} for name in ("", "high", 7, "{}", "[]", "[1,2]")),
        *({"roomConfig": {"name": name}} for name in ('[[],["a"]]', '[[],null,"a","b"]')),
    ],
)
def test_what_others_write_there_is_nothing(claims: dict[str, Any]) -> None:
    assert origin_of(claims) is None
