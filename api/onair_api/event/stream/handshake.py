"""The token and the session id of a stream, wherever a client puts them."""

from __future__ import annotations

import time

import jwt
from starlette.datastructures import Headers, QueryParams

from onair_api.auth.caller import MAX_SESSION_ID
from onair_api.errors import PermissionDenied, RpcError, Unauthenticated

SUBPROTOCOL = "Bearer"
REFUSED = "You do not have permission to this resource"
"""Clients of this family do not retry after this sentence with code 7 (`operations.md`, Event operations)."""


def token_of(headers: Headers, query: QueryParams, subprotocols: list[str]) -> str:
    """The access token; empty if there is none. What only a WebSocket can carry comes first."""
    if len(subprotocols) > 1 and subprotocols[0] == SUBPROTOCOL:
        return subprotocols[1]
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return query.get("access_token", "")


def session_id_of(headers: Headers, query: QueryParams) -> str | None:
    given = (
        query.get("sessionid")
        or query.get("sessionId")
        or headers.get("sessionid")
        or headers.get("apistream-sessionid")
    )
    return given[:MAX_SESSION_ID] if given else None


def told_on_stream(error: RpcError, token: str) -> RpcError:
    """The error as a stream's client is told: what a retry cannot change is a lack of permission.

    A token that has merely ended is worth another try, with a new one.
    """
    if isinstance(error, PermissionDenied) or (isinstance(error, Unauthenticated) and not _ended(token)):
        return PermissionDenied(REFUSED)
    return error


def _ended(token: str) -> bool:
    try:
        claims = jwt.decode(token, options={"verify_signature": False})
        return float(claims["exp"]) <= time.time()
    except (jwt.PyJWTError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return False
