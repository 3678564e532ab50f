"""Webhooks of the room server."""

from __future__ import annotations

import base64
import hashlib
import time
from typing import Any

import jwt
import orjson
import pytest

from onair_api.errors import InvalidArgument, Unauthenticated
from onair_api.live.room.webhook import decode, verify
from onair_crds.room_server.credentials import RoomServerCredentials

CREDENTIALS = RoomServerCredentials("onair", "a secret that nobody else knows at all")
BODY = orjson.dumps(
    {
        "event": "participant_joined",
        "id": "EV_1",
        "createdAt": "1770000000",
        "room": {"name": "uid-1"},
        "participant": {
            "sid": "PA_1",
            "identity": "anna",
            "name": "Anna",
            "permission": {"canPublish": True},
        },
    }
)


def token(body: bytes = BODY, secret: str = CREDENTIALS.api_secret, **changes: Any) -> str:
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    claims = {"iss": "onair", "exp": int(time.time()) + 300, "sha256": digest, **changes}
    return jwt.encode(claims, secret, algorithm="HS256")


def test_what_the_server_signed_is_taken() -> None:
    verify(BODY, token(), CREDENTIALS)
    news = decode(BODY)
    assert news
    assert (news.id, news.room, news.sub_type, news.session, news.hidden) == (
        "EV_1",
        "uid-1",
        "JOIN",
        "PA_1",
        False,
    )
    assert news.record == {"participantId": "anna", "displayName": "Anna"}


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "not a token",
        token(secret="x" * 40),
        token(iss="other"),
        token(exp=int(time.time()) - 60),
        token(b"another body"),
        token(sha256=None),
        jwt.encode({"iss": "onair", "exp": int(time.time()) + 300}, "", algorithm="none"),
    ],
    ids=["none", "empty", "no token", "secret", "issuer", "expired", "body", "no hash", "unsigned"],
)
def test_what_is_forged_changed_or_old_is_refused(authorization: str | None) -> None:
    with pytest.raises(Unauthenticated):
        verify(BODY, authorization, CREDENTIALS)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
def test_what_is_no_webhook_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidArgument):
        decode(body)


@pytest.mark.parametrize(
    "body",
    [
        {"event": "room_started", "id": "1", "room": {"name": "r"}},
        {"event": "participant_joined", "room": {"name": "r"}, "participant": {"identity": "a"}},
        {"event": "participant_joined", "id": "1", "participant": {"identity": "a"}},
        {"event": "participant_joined", "id": "1", "room": "r", "participant": []},
        {},
    ],
)
def test_of_what_is_not_about_participants_there_is_no_event(body: dict[str, Any]) -> None:
    assert decode(orjson.dumps(body)) is None
