"""Addresses of players open one source for a while, and nothing else."""

from __future__ import annotations

import base64
import dataclasses
import json

import pytest

from onair_api.auth.identity import ApiKeyRef, Identity
from onair_api.auth.play_tokens import OPEN_LIFE_S, Purpose, _signature, decode, opening
from onair_crds.resources.enums import Role

SECRET = b"a secret of these tests"
NOW_S = 1_770_000_000.5
LOGIN = Identity(
    *("service", "user", "Ann", Role.HOST, ()),
    api_key=ApiKeyRef("key.of.a", "uid-2"),
    lineage=("1", "2"),
    signing_key="key",
)
OPEN = opening("source-a.b", "uid-1", NOW_S, NOW_S + 86_400, LOGIN)
PLAY = OPEN.to_play()


def test_an_address_opens_for_some_minutes_and_a_player_goes_on_until_the_access_token_ends() -> None:
    text = OPEN.encode(SECRET)
    assert decode(text, SECRET, Purpose.OPEN, NOW_S) == OPEN
    assert decode(text, SECRET, Purpose.OPEN, NOW_S + OPEN_LIFE_S - 1)
    assert decode(text, SECRET, Purpose.OPEN, NOW_S + OPEN_LIFE_S) is None
    assert decode(PLAY.encode(SECRET), SECRET, Purpose.PLAY, NOW_S + 86_398) == PLAY
    assert decode(PLAY.encode(SECRET), SECRET, Purpose.PLAY, NOW_S + 86_400) is None
    assert (PLAY.source, PLAY.uid) == ("source-a.b", "uid-1")
    assert (PLAY.lineage, PLAY.api_key, PLAY.signing_key) == (LOGIN.lineage, LOGIN.api_key, "key")


def test_one_from_before_it_named_the_signing_key_plays_on() -> None:
    fields = ["p", "source", "uid-1", int(NOW_S) + 9, int(NOW_S) + 9, ["1"], None]
    text = base64.urlsafe_b64encode(json.dumps(fields).encode()).decode()
    found = decode(f"{_signature(SECRET, text)}.{text}", SECRET, Purpose.PLAY, NOW_S)
    assert found
    assert (found.lineage, found.signing_key) == (("1",), "")


def test_an_address_ends_with_the_access_token_that_it_was_asked_for_with() -> None:
    short = opening("source", "uid-1", NOW_S, NOW_S + 10, LOGIN)
    assert short.expires_s == int(NOW_S + 10)


def test_one_is_not_good_for_the_other() -> None:
    assert decode(OPEN.encode(SECRET), SECRET, Purpose.PLAY, NOW_S) is None
    assert decode(PLAY.encode(SECRET), SECRET, Purpose.OPEN, NOW_S) is None


@pytest.mark.parametrize("token", ["", ".", "....", "x" * 100_000, "a.o.1.1.u.s", "\u00e9.o.1.1.u.s", "\0"])
def test_what_is_made_up_opens_nothing(token: str) -> None:
    assert decode(token, SECRET, Purpose.OPEN, NOW_S) is None


@pytest.mark.parametrize("change", [{"source": "another"}, {"uid": "other"}, {"expires_s": 2**40}])
def test_what_was_changed_opens_nothing(change: dict[str, str | int]) -> None:
    signature = OPEN.encode(SECRET).partition(".")[0]
    text = dataclasses.replace(OPEN, **change).encode(SECRET).partition(".")[2]  # type: ignore[arg-type]
    assert decode(f"{signature}.{text}", SECRET, Purpose.OPEN, NOW_S) is None
    assert decode(OPEN.encode(b"another secret"), SECRET, Purpose.OPEN, NOW_S) is None
