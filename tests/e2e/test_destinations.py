"""Several destinations of one show: one that fails costs the others nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
import yaml
from tests.support.cluster import SHOWS, Cluster, address, connect_of
from tests.support.receiver import GapMonitor, Receiver
from tests.support.shows import Show

MORTAL = "mortal-receiver"


@pytest.fixture
def mortal_receiver(cluster: Cluster) -> Iterator[str]:
    """An RTMP server of its own that a test may kill; gives its url inside the cluster."""
    deployed = cluster.list("deployment", "app.kubernetes.io/component=mediamtx", "onair-system")[0]
    image = deployed["spec"]["template"]["spec"]["containers"][0]["image"]
    labels = {"app": MORTAL}
    config = "hls: no\nwebrtc: no\nsrt: no\nmoq: no\npaths:\n  all_others:\n"
    container = {
        "name": "mediamtx",
        "image": image,
        "args": ["/etc/mortal/mediamtx.yml"],
        "readinessProbe": {"tcpSocket": {"port": 1935}, "periodSeconds": 1},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/mortal"}],
    }
    manifests = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": MORTAL, "labels": labels},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "containers": [container],
                "volumes": [{"name": "config", "configMap": {"name": MORTAL}}],
            },
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": MORTAL},
            "data": {"mediamtx.yml": config},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": MORTAL},
            "spec": {"selector": labels, "ports": [{"port": 1935}]},
        },
    ]
    cluster.kubectl("-n", SHOWS, "apply", "-f", "-", input=yaml.safe_dump_all(manifests))
    cluster.shows("wait", "--for=condition=Ready", f"pod/{MORTAL}", "--timeout=60s")
    yield f"rtmp://{MORTAL}.{SHOWS}.svc:1935/live"
    cluster.shows("delete", "pod,service,configmap", MORTAL, "--ignore-not-found", "--wait=false")


def test_neither_an_unreachable_nor_a_dying_destination_costs_the_healthy_one(
    make_show: Callable[..., Show], cluster: Cluster, receiver: Receiver, path: str, mortal_receiver: str
) -> None:
    show = make_show()
    healthy = show.add_destination(**address(path))
    unreachable = show.add_destination("rtmp://no-such-host.shows.svc/live", key="never")
    dying = show.add_destination(mortal_receiver, key="dying", timeout=1000)
    show.start()
    receiver.wait_ready(path, 60)
    cluster.until("the one that will die is connected", lambda: connect_of(cluster, dying) == "Connected")
    with GapMonitor(receiver, path) as gap:
        cluster.shows("delete", "pod", MORTAL, "--wait=false")
        cluster.until("the dead one is told", lambda: connect_of(cluster, dying) == "Disconnected", 30)
        moving = receiver.received_bytes(path)
        cluster.until("media goes on", lambda: receiver.received_bytes(path) > moving + 200_000, 30)
    assert gap.longest_s < 1.0
    project = cluster.get("project", show.project)["status"]
    assert project["destinations"]["summary"] == "1/3"
    assert connect_of(cluster, healthy) == "Connected"
    errors = {name: cluster.get("destination", name)["status"]["lastError"] for name in (unreachable, dying)}
    assert "no-such-host.shows.svc" in errors[unreachable]
    assert errors[dying]


def test_destinations_come_and_go_while_live(
    on_air: Show, cluster: Cluster, receiver: Receiver, path: str
) -> None:
    with GapMonitor(receiver, path) as gap:
        second = on_air.add_destination(**address(f"{path}-2"))
        receiver.wait_ready(f"{path}-2", 15)
        on_air.update_destination(second, enabled=False, updateMask="enabled")
        cluster.until("the second one ends", lambda: not receiver.ready(f"{path}-2"), 15)
        assert (
            on_air.update_destination(second, enabled=True, updateMask="enabled")["broadcastUpdated"] is True
        )
        receiver.wait_ready(f"{path}-2", 15)
        moved = {"rtmpPush": address(f"{path}-3")}
        assert (
            on_air.update_destination(second, address=moved, updateMask="address")["broadcastUpdated"] is True
        )
        receiver.wait_ready(f"{path}-3", 15)
        cluster.until("the old address ends", lambda: not receiver.ready(f"{path}-2"), 15)
        on_air.remove_destination(second)
        cluster.until("the second one ends", lambda: not receiver.ready(f"{path}-3"), 15)
    assert gap.longest_s < 1.0


def test_a_kicked_destination_reconnects_by_itself(
    on_air: Show, cluster: Cluster, receiver: Receiver, path: str
) -> None:
    (first,) = receiver.publishers(path)
    receiver.kick(path)
    cluster.until(
        "another connection",
        lambda: [c for c in receiver.publishers(path) if c["id"] != first["id"]],
        10,
    )
    receiver.wait_ready(path, 10)


def test_state_is_told_within_a_second_of_the_fact(
    on_air: Show, cluster: Cluster, receiver: Receiver, path: str
) -> None:
    """The bound is 500 ms; kubectl itself takes 100 to 200 ms a look, so tests gate at twice."""
    destination = on_air.add_destination(**address(f"{path}-2"))
    arrived = receiver.wait_ready(f"{path}-2", 15)
    cluster.until("connected", lambda: connect_of(cluster, destination) == "Connected", 10)
    assert time.time() - arrived < 1.5
