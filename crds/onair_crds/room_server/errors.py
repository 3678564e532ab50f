"""Failures of requests to the room server."""

from __future__ import annotations


class RoomServerError(Exception):
    """The room server did not do what was asked. Its text holds no secret.

    `status` is the HTTP status of its response; None if there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status

    @property
    def not_found(self) -> bool:
        return self.status == 404
