"""Tests several destinations of one show: a failing one does not affect the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import yaml
from tests.support.cluster import SHOWS, LocalCluster, address, connect_of
from tests.support.receiver import GapMonitor, ReceiverClient
from tests.support.shows import LiveShow

DISPOSABLE = "disposable-receiver"
PAUSE_S = 3.0
"""Of a stream that goes on while other shows start on the same cores. Its connection tells of a reconnect."""


@pytest.fixture
def disposable_receiver(cluster: LocalCluster) -> Iterator[str]:
    """Runs a separate RTMP server that a test can kill; yields its URL in the cluster."""
    deployed = cluster.list("deployment", "app.kubernetes.io/component=mediamtx", "onair-system")[0]
    image = deployed["spec"]["template"]["spec"]["containers"][0]["image"]
    labels = {"app": DISPOSABLE}
    config = "hls: no\nwebrtc: no\nsrt: no\nmoq: no\npaths:\n  all_others:\n"
    container = {
        "name": "mediamtx",
        "image": image,
        "args": ["/etc/mediamtx/mediamtx.yml"],
        "readinessProbe": {"tcpSocket": {"port": 1935}, "periodSeconds": 1},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/mediamtx"}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    manifests = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": DISPOSABLE, "labels": labels},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": 65532,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [container],
                "volumes": [{"name": "config", "configMap": {"name": DISPOSABLE}}],
            },
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": DISPOSABLE},
            "data": {"mediamtx.yml": config},
        },
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": DISPOSABLE},
            "spec": {"podSelector": {"matchLabels": labels}, "ingress": [{"ports": [{"port": 1935}]}]},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": DISPOSABLE},
            "spec": {"selector": labels, "ports": [{"port": 1935}]},
        },
    ]
    cluster.kubectl("-n", SHOWS, "apply", "-f", "-", input=yaml.safe_dump_all(manifests))
    cluster.shows("wait", "--for=condition=Ready", f"pod/{DISPOSABLE}", "--timeout=60s")
    yield f"rtmp://{DISPOSABLE}.{SHOWS}.svc:1935/live"
    cluster.shows(
        "delete", "pod,service,configmap,networkpolicy", DISPOSABLE, "--ignore-not-found", "--wait=false"
    )


def test_unreachable_and_failing_destinations_do_not_affect_a_healthy_one(
    make_show: Callable[..., LiveShow],
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    disposable_receiver: str,
) -> None:
    show = make_show()
    healthy = show.add_destination(**address(path))
    unreachable = show.add_destination("rtmp://no-such-host.shows.svc/live", key="never")
    dying = show.add_destination(disposable_receiver, key="dying", timeout=1000)
    show.start()
    receiver.wait_ready(path, 60)
    cluster.until("the disposable one is connected", lambda: connect_of(cluster, dying) == "Connected")
    with GapMonitor(receiver, path) as gap:
        cluster.shows("delete", "pod", DISPOSABLE, "--wait=false")
        cluster.until("its failure is reported", lambda: connect_of(cluster, dying) == "Disconnected", 30)
        before = receiver.received_bytes(path)
        cluster.until("media continues", lambda: receiver.received_bytes(path) > before + 200_000, 30)
    assert not gap.reconnected
    assert gap.longest_s < PAUSE_S
    project = cluster.get("project", show.project)["status"]
    assert project["destinations"]["summary"] == "1/3"
    assert connect_of(cluster, healthy) == "Connected"
    errors = {name: cluster.get("destination", name)["status"]["lastError"] for name in (unreachable, dying)}
    assert "no-such-host.shows.svc" in errors[unreachable]
    assert errors[dying]


def test_destinations_are_added_changed_and_removed_on_air(
    on_air: LiveShow, cluster: LocalCluster, receiver: ReceiverClient, path: str
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
    assert not gap.reconnected
    assert gap.longest_s < PAUSE_S


def test_a_kicked_destination_reconnects(
    on_air: LiveShow, cluster: LocalCluster, receiver: ReceiverClient, path: str
) -> None:
    (first,) = receiver.publishers(path)
    receiver.kick(path)
    cluster.until(
        "another connection",
        lambda: [c for c in receiver.publishers(path) if c["id"] != first["id"]],
        10,
    )
    receiver.wait_ready(path, 10)


def test_a_deleted_secret_ends_no_stream(
    on_air: LiveShow, cluster: LocalCluster, receiver: ReceiverClient, path: str
) -> None:
    everyone = cluster.list("destination")
    (destination,) = [each for each in everyone if each["spec"]["projectId"] == on_air.project]
    name = destination["metadata"]["name"]
    secret = destination["spec"]["address"]["rtmpPush"]["keySecretRef"]["name"]
    with GapMonitor(receiver, path) as gap:
        cluster.shows("delete", "secret", secret)
        cluster.until("it is told", lambda: "continues with what it has" in error_of(cluster, name))
        receiver.wait_steady(path)
    assert not gap.reconnected
    assert gap.longest_s < PAUSE_S
    assert connect_of(cluster, name) == "Connected"
    receiver.kick(path)
    receiver.wait_steady(path)


def error_of(cluster: LocalCluster, destination: str) -> str:
    return str(cluster.get("destination", destination).get("status", {}).get("lastError", ""))
