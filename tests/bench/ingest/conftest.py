"""Fixtures that run facade, operator and ingest pods without the local cluster, with a real API server."""

from __future__ import annotations

from tests.support.fixtures.facade import (
    api_key,
    facade,
    recorded_logs,
    resources,
    rights,
    sign_in,
    start_facade,
)
from tests.support.fixtures.ingest_installation import installation

__all__ = [
    "api_key",
    "facade",
    "installation",
    "recorded_logs",
    "resources",
    "rights",
    "sign_in",
    "start_facade",
]
