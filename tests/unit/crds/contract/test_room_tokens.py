"""Tokens for rooms: what they admit to."""

from __future__ import annotations

import datetime as dt

import jwt

from onair_crds.contract.room_tokens import livekit_publisher

SECRET = "a secret that is known to nobody else"
UNTIL = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


def test_a_publisher_may_publish_into_one_room_and_nothing_else() -> None:
    token = livekit_publisher("key", SECRET, "friday", "programme", UNTIL)
    claims = jwt.decode(token.get_secret_value(), SECRET, algorithms=["HS256"])
    assert (claims["iss"], claims["sub"], claims["exp"]) == ("key", "programme", UNTIL.timestamp())
    grant = claims["video"]
    assert (grant["room"], grant["roomJoin"], grant["canPublish"]) == ("friday", True, True)
    assert not any(grant[right] for right in ("canSubscribe", "canPublishData", "canUpdateOwnMetadata"))


def test_the_same_arguments_give_the_same_token() -> None:
    tokens = {livekit_publisher("key", SECRET, "friday", "programme", UNTIL).get_secret_value() for _ in "ab"}
    assert len(tokens) == 1
