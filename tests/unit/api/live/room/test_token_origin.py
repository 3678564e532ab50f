"""What a room's token goes back to, in the token."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.auth.identity import ApiKeyRef, Identity
from onair_api.auth.verified_token import Verified
from onair_api.live.room.token_origin import TokenOrigin, origin_of, origin_of_access, origin_text
from onair_api.settings import MAX_TOKEN_DURATION_MS


@pytest.mark.parametrize("key", [None, ApiKeyRef("api-key-1", "uid/1")])
def test_it_is_read_as_it_was_written(key: ApiKeyRef | None) -> None:
    for run, end in ((None, None), ("run", 1_800_000_000), (None, 1_800_000_000)):
        origin = TokenOrigin(("one", "two"), key, "a key's id", run, end)
        assert origin_of({"roomConfig": {"name": origin_text(origin)}}) == origin


def test_one_from_before_it_named_run_and_end_names_none() -> None:
    origin = TokenOrigin(("one",), ApiKeyRef("api-key-1", "uid"), "a key's id")
    assert origin_of({"roomConfig": {"name": '[["one"],["api-key-1","uid"],"a key\'s id"]'}}) == origin


def test_it_ends_with_the_chain_of_the_access_token_and_not_with_that_itself() -> None:
    identity = Identity("service", "ben", "Ben", None, (), lineage=("one", "two"), signing_key="key")
    token = Verified(identity, issued=900.0, expires=1000.0, first_issued=100.0, id="id", run="run")
    end = 100 + MAX_TOKEN_DURATION_MS // 1000
    assert origin_of_access(token) == TokenOrigin(("one", "two"), None, "key", "run", end)


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
        *({"roomConfig": {"name": f'[[],null,"a",null,{end}]'}} for end in ('"b"', "1e400", "[]", '1,""')),
    ],
)
def test_what_others_write_there_is_nothing(claims: dict[str, Any]) -> None:
    assert origin_of(claims) is None
