"""A node that stops answering, with a show on it: fenced by its Lease, the show goes on elsewhere."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from tests.support.cluster import SHOWS, SYSTEM, Cluster, address
from tests.support.receiver import GapMonitor, Receiver
from tests.support.shows import Show

PLACES = {
    "us-east-1": {"latitude": 39.0, "longitude": -77.5},
    "eu-central-1": {"latitude": 50.1, "longitude": 8.7},
}
NODES_GAP_S = 45
"""The Lease counts as dead after 12.5 s; the rest is a cold start of a browser on a busy machine."""


def node(cluster: Cluster, name: str) -> dict[str, Any]:
    document: dict[str, Any] = cluster.get("node", name)
    return document


def ready(cluster: Cluster, name: str) -> bool:
    conditions = node(cluster, name)["status"]["conditions"]
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def system_pods(cluster: Cluster) -> list[dict[str, Any]]:
    return cluster.list("pod", "app.kubernetes.io/instance=onair", SYSTEM)


def name_servers(cluster: Cluster) -> list[dict[str, Any]]:
    return cluster.list("pod", "k8s-app=kube-dns", "kube-system")


def all_ready(cluster: Cluster, off: str) -> bool:
    pods = system_pods(cluster) + name_servers(cluster)
    return bool(pods) and all(
        p["spec"].get("nodeName") not in (off, None)
        and any(
            c["type"] == "Ready" and c["status"] == "True" for c in p.get("status", {}).get("conditions", [])
        )
        for p in pods
    )


@pytest.fixture
def lonely_node(cluster: Cluster) -> str:
    """A node in a region, on which nothing of OnAir's own runs but encoders, and no name server.

    The cluster goes on asking a name server that died with its node for some 40 s: that
    would be measured instead.
    """
    hosts = {
        p["metadata"]["labels"].get("app.kubernetes.io/component"): p["spec"]["nodeName"]
        for p in system_pods(cluster)
    }
    name = next(
        n["metadata"]["name"]
        for n in cluster.list("node", "topology.kubernetes.io/region", "default")
        if n["metadata"]["name"] != hosts["mediamtx"]
    )
    cluster.kubectl("cordon", name)
    try:
        for pod in system_pods(cluster) + name_servers(cluster):
            if pod["spec"]["nodeName"] == name:
                known = pod["metadata"]
                cluster.kubectl("-n", known["namespace"], "delete", "pod", known["name"])
        cluster.until("all but encoders have moved", partial(all_ready, cluster, name), 90)
    finally:
        cluster.kubectl("uncordon", name)
    return name


@contextlib.contextmanager
def frozen(cluster: Cluster, name: str) -> Iterator[None]:
    """Everything on the node stands still, its kubelet and its connections too, without a word to anyone."""
    subprocess.run(["docker", "pause", name], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["docker", "unpause", name], check=True, capture_output=True)
        cluster.until("the node is ready again", partial(ready, cluster, name), 90)


def test_a_show_goes_on_elsewhere_when_its_node_dies(
    make_show: Callable[..., Show], cluster: Cluster, receiver: Receiver, path: str, lonely_node: str
) -> None:
    region = node(cluster, lonely_node)["metadata"]["labels"]["topology.kubernetes.io/region"]
    show = make_show(location=PLACES[region])
    show.add_destination(**address(path))
    run = show.start()
    receiver.wait_ready(path, timeout_s=60)
    show.wait_phase("RUNNING")
    lost = cluster.encoder_pod(show.project)
    assert cluster.get("pod", lost)["spec"]["nodeName"] == lonely_node

    with GapMonitor(receiver, path) as gap, frozen(cluster, lonely_node):
        cluster.until("another pod has it", lambda: cluster.encoder_pod(show.project) != lost, NODES_GAP_S)
        show.wait_phase("RUNNING")
        before = receiver.received_bytes(path)
        cluster.until("media again", lambda: receiver.received_bytes(path) not in (0, before), NODES_GAP_S)
    print(f"media gap: {gap.longest_s:.1f} s")
    assert gap.longest_s < NODES_GAP_S

    broadcast = cluster.get("project", show.project)["status"]["broadcast"]
    assert (broadcast["id"], broadcast["epoch"]) == (run, 2)
    taken = cluster.get("pod", broadcast["pod"])["spec"]["nodeName"]
    assert taken != lonely_node
    # The old encoder has woken up: it must be gone soon, and must not take the address back.
    with GapMonitor(receiver, path) as after:
        cluster.until("the lost pod is gone", lambda: not _exists(cluster, lost), 60)
        time.sleep(5)
    assert after.longest_s < 5
    assert cluster.encoder_pod(show.project) == broadcast["pod"]


def _exists(cluster: Cluster, pod: str) -> bool:
    return bool(cluster.kubectl("-n", SHOWS, "get", "pod", pod, "--ignore-not-found", "-o", "name").strip())
