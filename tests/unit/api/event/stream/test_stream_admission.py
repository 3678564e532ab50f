"""Where a stream's token and session id come from, and what a refused client gets."""

from __future__ import annotations

import time

import jwt
import pytest
from starlette.datastructures import Headers, QueryParams

from onair_api.errors import Code, PermissionDenied, ResourceExhausted, RpcError, Unauthenticated
from onair_api.event.stream.stream_admission import REFUSED, refusal_of, session_id_of, token_of


@pytest.mark.parametrize(
    ("subprotocols", "header", "query", "token"),
    [
        (["Bearer", "from-subprotocol"], "Bearer from-header", "access_token=from-query", "from-subprotocol"),
        ([], "Bearer from-header", "access_token=from-query", "from-header"),
        ([], "bearer  spaced ", "", "spaced"),
        ([], "Basic x", "access_token=from-query", "from-query"),
        (["Bearer"], "", "access_token=from-query", "from-query"),
        (["other", "x"], "", "", ""),
    ],
)
def test_the_token_comes_from_the_first_place_that_has_one(
    subprotocols: list[str], header: str, query: str, token: str
) -> None:
    assert token_of(Headers({"authorization": header}), QueryParams(query), subprotocols) == token


@pytest.mark.parametrize(
    ("query", "headers", "session_id"),
    [
        ("sessionid=a&sessionId=b", {"sessionid": "c"}, "a"),
        ("sessionId=b", {"sessionid": "c"}, "b"),
        ("", {"SessionId": "c", "apistream-sessionid": "d"}, "c"),
        ("", {"apistream-sessionid": "d"}, "d"),
        ("", {}, None),
        (f"sessionid={'x' * 200}", {}, "x" * 128),
    ],
)
def test_the_session_id_comes_from_the_query_or_a_header(
    query: str, headers: dict[str, str], session_id: str | None
) -> None:
    assert session_id_of(Headers(headers), QueryParams(query)) == session_id


def token(expires_in_s: float) -> str:
    return jwt.encode({"exp": time.time() + expires_in_s}, "k" * 32)


@pytest.mark.parametrize(
    ("error", "given", "code"),
    [
        (Unauthenticated("expired"), token(-60), Code.UNAUTHENTICATED),
        (Unauthenticated("a wrong signature"), token(3600), Code.PERMISSION_DENIED),
        (Unauthenticated("no token"), "", Code.PERMISSION_DENIED),
        (Unauthenticated("no JWT"), "nonsense", Code.PERMISSION_DENIED),
        (PermissionDenied("the role may not"), token(3600), Code.PERMISSION_DENIED),
        (ResourceExhausted("too many streams"), token(3600), Code.RESOURCE_EXHAUSTED),
    ],
)
def test_only_an_expired_token_or_a_full_service_is_worth_a_retry(
    error: RpcError, given: str, code: Code
) -> None:
    refusal = refusal_of(error, given)
    assert refusal.code is code
    assert (refusal.message == REFUSED) == (code is Code.PERMISSION_DENIED)
    if refusal.message == REFUSED:
        status = "type.googleapis.com/google.rpc.Status"
        assert refusal.details == [{"@type": status, **error.body()}], "as plain HTTP says it"
