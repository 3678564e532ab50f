"""Finds the room token of a request below `/webrtc/v2`, where LiveKit's clients put it."""

from __future__ import annotations

from starlette.datastructures import Headers, QueryParams
from starlette.types import Scope


def header_token(scope: Scope) -> str:
    """The token of the header; empty if there is none."""
    scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def room_token(scope: Scope) -> str:
    """The token, of the query too, as WebSockets of browsers have no headers; empty if there is none."""
    return header_token(scope) or QueryParams(scope["query_string"]).get("access_token", "")
