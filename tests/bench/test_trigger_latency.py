"""Measures how soon a source that connects is on air: from its start edge to the first packet."""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Callable

from tests.support.cluster import PROBE, LocalCluster, address
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.receiver import ReceiverClient
from tests.support.shows import FacadeClient, LiveShow

RUNS = 20
PATIENCE_S = 1.0
"""A source that has been connected for so long starts the broadcast: that is the edge."""
BOUND_S = 6.0
"""A cold start's: no pod exists."""


def camera(facade: FacadeClient, show: LiveShow) -> tuple[str, str]:
    """A source that starts and stops the show; gives its id and where it is pushed to."""
    path = f"/collection/{show.collection}/source"
    source = facade.call("POST", path, {"address": {"rtmpPush": {"enabled": True}}})["source"]
    either = {"start": "SOURCE_TRIGGER_ACTION_OR", "stop": "SOURCE_TRIGGER_ACTION_OR"}
    facade.call("PUT", f"{show.path}/source/{source['sourceId']}", {"trigger": either})
    return str(source["sourceId"]), str(source["address"]["rtmpPush"]["url"])


def connected_since(cluster: LocalCluster, source: str) -> float:
    """When the source became Connected, in Unix seconds, by the operator's word."""
    status = cluster.get("source", source)["status"]
    assert status["connect"] == "Connected"
    return dt.datetime.fromisoformat(status["since"]).timestamp()


def test_a_start_edge_to_the_first_packet(
    facade_client: FacadeClient,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    report: Callable[..., float],
) -> None:
    late = []
    for number in range(RUNS):
        show = facade_client.show(PROBE, 1280, 720)
        try:
            show.add_destination(**address(f"{path}-{number}"))
            source, url = camera(facade_client, show)
            with FfmpegEncoder(url):
                arrived = receiver.wait_ready(f"{path}-{number}", 60)
                late.append(arrived - connected_since(cluster, source) - PATIENCE_S)
        finally:
            show.delete()
            cluster.wait_without_pods([show.project])
    assert min(late) > 0, "a broadcast started before its source had been connected for long enough"
    report("start edge of a source → first packet, cold, p50", [statistics.median(late)], "s")
    p95 = report(
        "start edge of a source → first packet, cold, p95",
        [statistics.quantiles(late, n=20)[-1]],
        "s",
        BOUND_S,
    )
    assert p95 < BOUND_S * 2
