"""Fixtures that run facade, operator and ingest pods without the local cluster, with a real API server."""

from __future__ import annotations

from tests.support.fixtures.facade import (
    api_key,
    cluster,
    facade,
    recorded_logs,
    rights,
    sign_in,
    start_facade,
)
from tests.support.fixtures.ingest_installation import installation

__all__ = [
    "api_key",
    "cluster",
    "facade",
    "installation",
    "recorded_logs",
    "rights",
    "sign_in",
    "start_facade",
]
