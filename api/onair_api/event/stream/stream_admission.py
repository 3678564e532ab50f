"""Opens a stream: finds token and session id wherever a client puts them, and checks who may."""

from __future__ import annotations

import time

import jwt
from starlette.datastructures import Headers, QueryParams

from onair_api.auth.callers import MAX_SESSION_ID, ByAccessToken, Callers, CallHeaders
from onair_api.auth.identity import Identity
from onair_api.auth.roles import VIEWERS
from onair_api.auth.verified_token import Verified
from onair_api.errors import PermissionDenied, RpcError, Unauthenticated
from onair_crds.shapes import JsonObject

STREAM_EVENTS = "StreamEvents"
STREAM_ACCESS = ByAccessToken(VIEWERS)
"""Who may open a stream."""

SUBPROTOCOL = "Bearer"
STATUS = "type.googleapis.com/google.rpc.Status"
REFUSED = "You do not have permission to this resource"
"""Clients of this family do not retry after this sentence with code 7 (`operations.md`, Event operations)."""


class StreamRefused(PermissionDenied):
    """The sentence that clients look for; the error behind it is a `google.rpc.Status` in the details."""

    def __init__(self, cause: RpcError) -> None:
        super().__init__(REFUSED)
        self._cause = cause

    @property
    def details(self) -> list[JsonObject]:
        return [{"@type": STATUS, **self._cause.body()}]


class StreamAdmission:
    """Decides who may open a stream, and how often they may ask something of it."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers

    async def admit(self, token: str | None) -> Verified:
        """Verifies the token of a stream.

        Raises:
            Unauthenticated: there is no token, or it is not valid.
            ResourceExhausted: too many requests came with this token or from its service.
            PermissionDenied: its role may not open streams.
            ApiError: the API server had to be asked and did not respond.
        """
        headers = CallHeaders(f"Bearer {token}" if token else None)
        return (await STREAM_ACCESS.caller(self._callers, STREAM_EVENTS, headers)).token

    def count(self, token_id: str, identity: Identity) -> None:
        """Counts one request on a stream.

        Raises:
            ResourceExhausted: there were too many.
        """
        self._callers.rate_limits.count(token_id, identity.service_id, identity.lineage)


def token_of(headers: Headers, query: QueryParams, subprotocols: list[str]) -> str:
    """The access token; empty if there is none. What only a WebSocket can carry comes first."""
    if len(subprotocols) > 1 and subprotocols[0] == SUBPROTOCOL:
        return subprotocols[1]
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return query.get("access_token", "")


def session_id_of(headers: Headers, query: QueryParams) -> str | None:
    """The session id that a client gives, in the query or a header; None if it gives none."""
    given = (
        query.get("sessionid")
        or query.get("sessionId")
        or headers.get("sessionid")
        or headers.get("apistream-sessionid")
    )
    return given[:MAX_SESSION_ID] if given else None


def refusal_of(error: RpcError, token: str) -> RpcError:
    """The error as a stream's client gets it: PERMISSION_DENIED where a retry does not help.

    A token that has merely expired is worth another try, with a new one. What plain HTTP would have said
    is in the details.
    """
    if isinstance(error, PermissionDenied) or (isinstance(error, Unauthenticated) and not _expired(token)):
        return StreamRefused(error)
    return error


def _expired(token: str) -> bool:
    try:
        claims = jwt.decode(token, options={"verify_signature": False})
        return float(claims["exp"]) <= time.time()
    except (jwt.PyJWTError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return False
