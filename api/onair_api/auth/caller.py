"""The caller of one request: verified, counted, allowed, and the session that its events will name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from onair_api.auth.identity import Identity
from onair_api.auth.roles import Operation, authorize
from onair_api.auth.tokens import Verified
from onair_api.services import services_of
from onair_api.writes.request_note import RequestNote, request_metadata

MAX_SESSION_ID = 128


@dataclass(frozen=True)
class Caller:
    identity: Identity
    session_id: str | None

    def note(self, body: dict[str, Any] | None = None, limit_bytes: int = 0) -> RequestNote:
        """What this request leaves on the objects that it writes."""
        return RequestNote(self.session_id, request_metadata(body, limit_bytes) if body else None)


async def caller_of(request: Request, operation: Operation) -> Caller:
    """
    Raises:
        Unauthenticated: the request has no valid access token.
        ResourceExhausted: too many requests came with this token or from its service.
        PermissionDenied: the token's role does not include the operation.
    """
    verified = await verified_of(request, operation)
    headers = request.headers
    session_id = headers.get("sessionid") or headers.get("apistream-sessionid")
    return Caller(verified.identity, session_id[:MAX_SESSION_ID] if session_id else None)


async def verified_of(request: Request, operation: Operation, *, redeeming: bool = False) -> Verified:
    """The access token of a request; one that nears its end is renewed with the answer.

    Raises: as `caller_of`.
    """
    services = services_of(request)
    verified = await services.tokens.verify(request.headers.get("authorization"), redeeming=redeeming)
    services.rate_limits.count(verified.id, verified.identity.service_id)
    authorize(verified.identity, operation)
    if renewed := services.tokens.renewed_near_end(verified):
        request.state.renewed_token = renewed
    return verified
