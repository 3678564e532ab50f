"""Finds the room token of a request below `/webrtc/v2`, where LiveKit's clients put it."""

from __future__ import annotations

from starlette.datastructures import Headers, QueryParams
from starlette.types import Scope


def room_token(scope: Scope) -> str:
    """The token; empty if there is none."""
    scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return QueryParams(scope["query_string"]).get("access_token", "")
