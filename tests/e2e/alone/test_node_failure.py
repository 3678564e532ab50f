"""Freezes the node of a show: its Lease expires, and the show continues on another node.

Ingest of the node's region gets another pod, which waits for the node: the region has no other one here.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from tests.support.cluster import SHOWS, SYSTEM, LocalCluster, address
from tests.support.receiver import GapMonitor, ReceiverClient
from tests.support.shows import LiveShow

from onair_crds.shapes import Document

LOCATIONS = {
    "us-east-1": {"latitude": 39.0, "longitude": -77.5},
    "eu-central-1": {"latitude": 50.1, "longitude": 8.7},
}
NODE_FAILURE_GAP_S = 45
"""The node counts as dead 12.5 s after its last renewal; the rest is a cold start on a busy machine."""

INGEST_REPLACED_S = 120
"""Kubernetes finds out within 50 s that the node does not respond, and evicts pods 10 s later."""


def node(cluster: LocalCluster, name: str) -> Document:
    document: Document = cluster.get("node", name)
    return document


def is_node_ready(cluster: LocalCluster, name: str) -> bool:
    conditions = node(cluster, name)["status"]["conditions"]
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def system_pods(cluster: LocalCluster) -> list[Document]:
    """Those that can move; ingest belongs to a region."""
    return cluster.list("pod", "app.kubernetes.io/instance=onair,app.kubernetes.io/component!=ingest", SYSTEM)


def ingest_pods(cluster: LocalCluster) -> dict[str, Document]:
    """By name."""
    found = cluster.list("pod", "app.kubernetes.io/instance=onair,app.kubernetes.io/component=ingest", SYSTEM)
    return {each["metadata"]["name"]: each for each in found}


def is_ready(pod: Document) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def dns_pods(cluster: LocalCluster) -> list[Document]:
    return cluster.list("pod", "k8s-app=kube-dns", "kube-system")


def all_ready_elsewhere(cluster: LocalCluster, node: str) -> bool:
    """Whether all system and DNS pods are ready on other nodes than this."""
    pods = system_pods(cluster) + dns_pods(cluster)
    return bool(pods) and all(p["spec"].get("nodeName") not in (node, None) and is_ready(p) for p in pods)


@pytest.fixture
def encoders_only_node(cluster: LocalCluster) -> str:
    """A node with a region on which, of OnAir, only encoders and the region's ingest run, and no DNS server.

    The cluster keeps querying a DNS server that failed with its node for about 40 s,
    which would dominate the measurement.
    """
    hosts = {
        p["metadata"]["labels"].get("app.kubernetes.io/component"): p["spec"]["nodeName"]
        for p in system_pods(cluster)
    }
    name: str = next(
        n["metadata"]["name"]
        for n in cluster.list("node", "topology.kubernetes.io/region", "default")
        if n["metadata"]["name"] != hosts["mediamtx"]
    )
    cluster.kubectl("cordon", name)
    try:
        for pod in system_pods(cluster) + dns_pods(cluster):
            if pod["spec"]["nodeName"] == name:
                known = pod["metadata"]
                cluster.kubectl("-n", known["namespace"], "delete", "pod", known["name"])
        cluster.until("system pods have moved", partial(all_ready_elsewhere, cluster, name), 90)
    finally:
        cluster.kubectl("uncordon", name)
    return name


@contextlib.contextmanager
def frozen(cluster: LocalCluster, name: str) -> Iterator[None]:
    """Freezes the node with its kubelet and connections; no peer is notified."""
    subprocess.run(["docker", "pause", name], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["docker", "unpause", name], check=True, capture_output=True)
        cluster.until("the node is ready again", partial(is_node_ready, cluster, name), 90)


def test_a_show_continues_on_another_node_when_its_node_fails(
    make_show: Callable[..., LiveShow],
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    encoders_only_node: str,
) -> None:
    region = node(cluster, encoders_only_node)["metadata"]["labels"]["topology.kubernetes.io/region"]
    show = make_show(location=LOCATIONS[region])
    show.add_destination(**address(path))
    run = show.start()
    receiver.wait_ready(path, timeout_s=60)
    show.wait_phase("RUNNING")
    lost = cluster.encoder_pod(show.project)
    assert cluster.get("pod", lost)["spec"]["nodeName"] == encoders_only_node

    ingest = {
        name: pod["metadata"]["uid"]
        for name, pod in ingest_pods(cluster).items()
        if pod["spec"].get("nodeName") == encoders_only_node
    }
    assert ingest

    def ingest_is_replaced() -> bool:
        found = {name: pod["metadata"]["uid"] for name, pod in ingest_pods(cluster).items()}
        return all(found.get(name) not in (None, uid) for name, uid in ingest.items())

    with GapMonitor(receiver, path) as gap, frozen(cluster, encoders_only_node):
        cluster.until(
            "another pod is claimed", lambda: cluster.encoder_pod(show.project) != lost, NODE_FAILURE_GAP_S
        )
        show.wait_phase("RUNNING")
        before = receiver.received_bytes(path)
        cluster.until(
            "media again", lambda: receiver.received_bytes(path) not in (0, before), NODE_FAILURE_GAP_S
        )
        cluster.until("ingest has other pods", ingest_is_replaced, INGEST_REPLACED_S)
    print(f"media gap: {gap.longest_s:.1f} s")
    assert gap.longest_s < NODE_FAILURE_GAP_S

    broadcast = cluster.get("project", show.project)["status"]["broadcast"]
    assert (broadcast["id"], broadcast["epoch"]) == (run, 2)
    new_node = cluster.get("pod", broadcast["pod"])["spec"]["nodeName"]
    assert new_node != encoders_only_node
    # The old encoder has resumed: it must be deleted soon, and must not take over the stream again.
    with GapMonitor(receiver, path) as after:
        cluster.until("the lost pod is deleted", lambda: not _exists(cluster, lost), 60)
        receiver.wait_steady(path, for_s=5)
    assert after.longest_s < 5
    assert cluster.encoder_pod(show.project) == broadcast["pod"]

    def ingest_is_ready() -> bool:
        pods = ingest_pods(cluster)
        return all(is_ready(pods[name]) for name in ingest)

    cluster.until("ingest is ready", ingest_is_ready, 90)
    assert ingest_is_replaced()


def _exists(cluster: LocalCluster, pod: str) -> bool:
    return bool(cluster.kubectl("-n", SHOWS, "get", "pod", pod, "--ignore-not-found", "-o", "name").strip())
