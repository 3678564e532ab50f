"""A facade over a cluster, and the keys that pages' tokens are signed with."""

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

__all__ = ["api_key", "cluster", "facade", "recorded_logs", "rights", "sign_in", "start_facade"]
