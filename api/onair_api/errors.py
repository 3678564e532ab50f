"""Errors with a meaning, each with its canonical code, HTTP status and google.rpc body.

The table is `operations.md`, "Errors". Everything else is turned into one of
these in one place: the API server's responses in `kubernetes_errors`,
unexpected errors in `http/request_log`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from onair_crds.shapes import JsonObject

BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"

MAX_VIOLATIONS = 100
"""Wrong fields that one error names."""


class Code(IntEnum):
    """Canonical RPC codes."""

    INVALID_ARGUMENT = 3
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16

    @property
    def http_status(self) -> int:
        return _HTTP_STATUS[self]


_HTTP_STATUS = {
    Code.INVALID_ARGUMENT: 400,
    Code.FAILED_PRECONDITION: 400,
    Code.UNAUTHENTICATED: 401,
    Code.PERMISSION_DENIED: 403,
    Code.NOT_FOUND: 404,
    Code.UNIMPLEMENTED: 405,
    Code.ALREADY_EXISTS: 409,
    Code.ABORTED: 409,
    Code.RESOURCE_EXHAUSTED: 429,
    Code.INTERNAL: 500,
    Code.UNAVAILABLE: 503,
    Code.DATA_LOSS: 500,
}


class Violation(NamedTuple):
    """One wrong field of a request: its camelCase path, and what is wrong without its value."""

    field: str
    description: str


class RpcError(Exception):
    """An error that is the response to a request; `message` is for people."""

    code: Code = Code.INTERNAL

    def __init__(self, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_s = retry_after_s

    @property
    def details(self) -> list[JsonObject]:
        return []

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after_s)} if self.retry_after_s is not None else {}

    def body(self) -> JsonObject:
        return {"code": int(self.code), "message": self.message, "details": self.details}


class InvalidArgument(RpcError):
    """The request is wrong whatever the state; names every field that is, up to MAX_VIOLATIONS."""

    code = Code.INVALID_ARGUMENT

    def __init__(self, *violations: Violation) -> None:
        """
        Args:
            violations: may be incomplete above MAX_VIOLATIONS.
        """
        self.violations = list(violations[:MAX_VIOLATIONS])
        named = [f"{v.field}: {v.description}" if v.field else v.description for v in self.violations]
        if more := len(violations) - len(named):
            named.append(f"and at least {more} more")
        super().__init__("; ".join(named))

    @property
    def details(self) -> list[JsonObject]:
        return [{"@type": BAD_REQUEST, "fieldViolations": [v._asdict() for v in self.violations]}]


class FailedPrecondition(RpcError):
    """The request is right, but not in the present state."""

    code = Code.FAILED_PRECONDITION


class Unauthenticated(RpcError):
    """There is no credential, or it is not valid."""

    code = Code.UNAUTHENTICATED

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class PermissionDenied(RpcError):
    """The caller is known, and may not do that."""

    code = Code.PERMISSION_DENIED


class NotFound(RpcError):
    """Does not exist, or must look so to this caller."""

    code = Code.NOT_FOUND


class AlreadyExists(RpcError):
    """There is a resource of this name already."""

    code = Code.ALREADY_EXISTS


class Aborted(RpcError):
    """Others changed the resource too often at the same time; the caller may retry."""

    code = Code.ABORTED


class ResourceExhausted(RpcError):
    """A quota or a rate limit is used up."""

    code = Code.RESOURCE_EXHAUSTED


class Unavailable(RpcError):
    """Something that the request needs is unavailable; the caller may retry."""

    code = Code.UNAVAILABLE


class Internal(RpcError):
    """Something failed that is not the caller's doing."""

    code = Code.INTERNAL


class MethodNotAllowed(RpcError):
    """The path exists, but not with this method."""

    code = Code.UNIMPLEMENTED
