"""The public SDK, unmodified, drives a whole session in the cluster: its broadcast is a real one."""

from __future__ import annotations

import os
import secrets

from tests.support.cluster import LocalCluster
from tests.support.sdk.public_sdk import endpoints, in_node
from tests.support.sdk.session_report import check


def test_a_whole_session(cluster: LocalCluster) -> None:
    settings = {
        "endpoints": endpoints(os.environ["ONAIR_URL"]),
        "sessionId": secrets.token_hex(8),
        "apiKey": os.environ["ONAIR_API_KEY"],
        "user": f"user-{secrets.token_hex(4)}",
    }
    report = in_node(settings)
    check(report)
    assert report["room"]["webrtcAccess"]["accessToken"], "the token opened it"
