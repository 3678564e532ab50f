"""A facade with Redis, and the keys that pages' tokens are signed with."""

from __future__ import annotations

from tests.support.fixtures.facade import (
    api_key,
    cluster,
    facade,
    host,
    one,
    recorded_logs,
    replicas,
    rights,
    sign_in,
    start_facade,
    two,
)

__all__ = [
    "api_key",
    "cluster",
    "facade",
    "host",
    "one",
    "recorded_logs",
    "replicas",
    "rights",
    "sign_in",
    "start_facade",
    "two",
]
