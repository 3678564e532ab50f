"""Measures how soon a source that connects is on air: from its start edge to the first packet."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.support.child_process import wait_until
from tests.support.cluster import PROBE, address
from tests.support.ingest.encoder import Encoder
from tests.support.receiver import Receiver
from tests.support.shows import FacadeClient, LiveShow

RUNS = 5
PATIENCE_S = 1.0
"""A source that has been connected for so long starts the broadcast: that is the edge."""
BOUND_S = 6.0
"""A cold start's: no pod exists."""


def camera(facade: FacadeClient, show: LiveShow) -> tuple[str, str]:
    """A source that starts and stops the show; gives the path of its record and where it is pushed to."""
    path = f"/collection/{show.collection}/source"
    source = facade.call("POST", path, {"address": {"rtmpPush": {"enabled": True}}})["source"]
    either = {"start": "SOURCE_TRIGGER_ACTION_OR", "stop": "SOURCE_TRIGGER_ACTION_OR"}
    facade.call("PUT", f"{show.path}/source/{source['sourceId']}", {"trigger": either})
    return f"{path}/{source['sourceId']}", str(source["address"]["rtmpPush"]["url"])


def test_a_start_edge_to_the_first_packet(
    facade: FacadeClient, receiver: Receiver, path: str, report: Callable[..., float]
) -> None:
    late = []
    for number in range(RUNS):
        show = facade.show(PROBE, 1280, 720)
        try:
            show.add_destination(**address(f"{path}-{number}"))
            record, url = camera(facade, show)

            def connected(record: str = record) -> bool:
                return bool(facade.call("GET", record)["source"]["connect"] == "CONNECT_STATE_CONNECTED")

            with Encoder(url):
                wait_until(connected, "the source is connected", 20)
                edge = time.time() + PATIENCE_S
                late.append(receiver.wait_ready(f"{path}-{number}", 60) - edge)
        finally:
            show.delete()
    report("start edge of a source → first packet, cold", late, "s", BOUND_S)
