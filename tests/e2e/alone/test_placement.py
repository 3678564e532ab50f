"""Where a show runs, when all nodes have room for it: beside other shows the nearest one may be full."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.support.cluster import LocalCluster
from tests.support.shows import LiveShow


def test_a_show_runs_in_the_nearest_region(make_show: Callable[..., LiveShow], cluster: LocalCluster) -> None:
    show = make_show(location={"latitude": 48.1, "longitude": 11.6})
    show.start()
    status = show.wait_phase("RUNNING")
    assert status["region"] == "REGION_EU_CENTRAL_1"
    assert status["datacenter"] == "eu-central-1a"
    node = cluster.get("pod", cluster.encoder_pod(show.project))["spec"]["nodeName"]
    labels = json.loads(cluster.kubectl("get", "node", node, "-o", "json"))["metadata"]["labels"]
    assert labels["topology.kubernetes.io/region"] == "eu-central-1"
