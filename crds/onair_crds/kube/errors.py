"""Failures of requests to the API server, with a meaning."""

from __future__ import annotations

import re

from onair_crds.shapes import Document

_LACKS_RIGHT = re.compile(r'User "[^"]*" cannot \w+ resource')
"""In what the API server's authorizer says, as of RBAC."""

_UNKNOWN_FIELD = re.compile(r'unknown field "([^"]*)"')
_UNKNOWN_FIELDS = re.compile(rf"strict decoding error: ({_UNKNOWN_FIELD.pattern}(, |$))+$")
"""Where a message says so itself: what it quotes is not at its end."""


class ApiError(Exception):
    """The API server's response was no success.

    `status` is the HTTP status, `reason` Kubernetes' own name for it (`NotFound`,
    `Conflict`, `Invalid`, `AlreadyExists` …), `causes` the named fields.
    """

    def __init__(self, status: int, reason: str, message: str, causes: list[Document] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = causes or []
        self.written: tuple[str, str] | None = None
        """Kind and name of what was to be written, where the caller has noted that."""

    @property
    def not_found(self) -> bool:
        """Whether the API server has no such object; that somebody has no such path says nothing."""
        return self.status == 404 and self.reason == "NotFound"

    @property
    def conflict(self) -> bool:
        return self.status == 409 and self.reason == "Conflict"

    @property
    def already_exists(self) -> bool:
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def forbidden(self) -> bool:
        """Whether the API server's policies forbid it; most of all, where this process lacks the right."""
        return self.status == 403

    @property
    def lacks_right(self) -> bool:
        """Whether an administrator has to grant a right: no policy or quota has refused this object."""
        return self.forbidden and _LACKS_RIGHT.search(self.message) is not None

    @property
    def refused(self) -> bool:
        """Whether the API server, or an admission webhook of it, has said that it does not do this."""
        return self.status != 401

    @property
    def transient(self) -> bool:
        """Whether it may pass within a moment: too many requests, a failed server, another's write."""
        return self.conflict

    @property
    def quota_exceeded(self) -> bool:
        """Whether a ResourceQuota of the namespace is used up."""
        return self.forbidden and "exceeded quota" in self.message

    @property
    def unknown_fields(self) -> list[str]:
        """The fields of a strict write that the API server does not know: its definitions are older."""
        match = _UNKNOWN_FIELDS.search(self.message)
        return _UNKNOWN_FIELD.findall(match[0]) if match and self.status in (400, 422) else []

    @property
    def namespace_terminating(self) -> bool:
        """Whether the namespace is being deleted: nothing is created in it any more."""
        return any(cause.get("reason") == "NamespaceTerminating" for cause in self.causes)


class ApiUnavailable(ApiError):
    """The API server was unreachable or responded with a failure of its own (5xx, 429)."""

    @property
    def transient(self) -> bool:
        return True


class ApiUnreachable(ApiUnavailable):
    """No whole response came in time: whether the request took effect is not known."""

    @property
    def refused(self) -> bool:
        return False
