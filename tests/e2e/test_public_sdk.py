"""The public SDK, unmodified, drives a whole session in the cluster: its broadcast is a real one."""

from __future__ import annotations

import os
import secrets

from tests.support.cluster import LocalCluster
from tests.support.sdk.public_sdk import endpoints, in_node
from tests.support.sdk.session_report import check

START_S = 60
"""How soon a broadcast is on air, and off it again, on a busy machine."""


def test_a_whole_session(cluster: LocalCluster) -> None:
    settings = {
        "endpoints": endpoints(os.environ["ONAIR_URL"]),
        "sessionId": secrets.token_hex(8),
        "apiKey": os.environ["ONAIR_API_KEY"],
        "user": f"user-{secrets.token_hex(4)}",
        "waitMs": START_S * 1000,
    }
    report = in_node(settings, 4 * START_S)
    check(report)
    assert report["room"]["webrtcAccess"]["accessToken"], "the token opened it"
