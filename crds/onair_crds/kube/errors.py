"""Failures of requests to the API server, with a meaning."""

from __future__ import annotations

from onair_crds.shapes import Document


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

    @property
    def not_found(self) -> bool:
        return self.status == 404

    @property
    def conflict(self) -> bool:
        return self.status == 409 and self.reason == "Conflict"

    @property
    def already_exists(self) -> bool:
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def refused(self) -> bool:
        """The object itself is not accepted: by a quota, a policy, or as invalid."""
        return self.status in (400, 403, 422)

    @property
    def namespace_terminating(self) -> bool:
        """Nothing is created any more in a namespace that is being deleted."""
        return any(cause.get("reason") == "NamespaceTerminating" for cause in self.causes)


class ApiUnavailable(ApiError):
    """The API server was unreachable or responded with a failure of its own (5xx, 429)."""
