"""Paths of the facade that encoders use."""

from __future__ import annotations

EVENT_STREAM_PATH = "/event/v2/stream"
TOKEN_PATH = "/live/v2/authentication/token"  # noqa: S105 - a path
