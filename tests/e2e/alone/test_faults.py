"""Kills programs and pods while a show is on air, and measures the gap in its media."""

from __future__ import annotations

import subprocess
from functools import partial
from typing import Any

import pytest
from tests.support.cluster import SHOWS, SYSTEM, LocalCluster, connect_of
from tests.support.fixtures.figures import Record
from tests.support.receiver import GapMonitor, ReceiverClient
from tests.support.shows import LiveShow

QUIET_S = 1.0
"""Upper bound of the gap of an uninterrupted stream, polled over HTTP on a busy machine."""


def epoch(cluster: LocalCluster, show: LiveShow) -> int:
    return int(cluster.get("project", show.project)["status"]["broadcast"]["epoch"])


def in_encoder(cluster: LocalCluster, pod: str, container: str, *command: str) -> str:
    return cluster.kubectl("-n", SHOWS, "exec", pod, "-c", container, "--", *command)


@pytest.mark.parametrize(
    ("container", "program"),
    [("encoder", "x11grab"), ("browser", "--remote-debugging-pipe"), ("encoder", "onair_encoder")],
    ids=["ffmpeg", "chromium", "agent"],
)
def test_a_program_killed_three_times_is_restarted_each_time(
    on_air: LiveShow,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    record: Record,
    container: str,
    program: str,
) -> None:
    pod = cluster.encoder_pod(on_air.project)
    longest = 0.0
    for _ in range(3):
        before = receiver.received_bytes(path)
        with GapMonitor(receiver, path) as gap:
            cluster.kill_program(pod, container, program)
            cluster.until("media again", partial(moved, receiver, path, before), 15)
            receiver.wait_steady(path)
        longest = max(longest, gap.longest_s)
    record(media_gap_s=longest)
    assert longest < 5
    assert epoch(cluster, on_air) == 1
    pod_status = cluster.get("pod", pod)["status"]
    assert [c["restartCount"] for c in pod_status["containerStatuses"]] == [0, 0]


def moved(receiver: ReceiverClient, path: str, before: int) -> bool:
    """Whether bytes have arrived; the count restarts with a reconnection."""
    now = receiver.received_bytes(path)
    return now > 0 and now != before


def test_a_deleted_pod_is_replaced_within_15_s(
    on_air: LiveShow,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    record: Record,
) -> None:
    broadcast = on_air.status()["broadcastId"]
    pod = cluster.encoder_pod(on_air.project)
    with GapMonitor(receiver, path) as gap:
        cluster.shows("delete", "pod", pod, "--wait=false")
        cluster.until("the next epoch runs", lambda: epoch(cluster, on_air) == 2)
        on_air.wait_phase("RUNNING")
        receiver.wait_steady(path)
    record(media_gap_s=gap.longest_s)
    assert gap.longest_s < 15
    assert on_air.status()["broadcastId"] == broadcast
    reasons = {e["reason"] for e in cluster.list("event") if e["involvedObject"]["name"] == on_air.project}
    assert {"Placed", "OnAir", "EncoderLost", "DestinationConnected"} <= reasons


def test_a_killed_operator_costs_no_media(
    on_air: LiveShow,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    record: Record,
) -> None:
    pod = cluster.encoder_pod(on_air.project)
    uid = cluster.get("pod", pod)["metadata"]["uid"]
    selector = "app.kubernetes.io/component=operator"
    with GapMonitor(receiver, path) as gap:
        old = {p["metadata"]["uid"] for p in cluster.list("pod", selector, SYSTEM)}
        cluster.kubectl(
            "-n", SYSTEM, "delete", "pod", "-l", selector, "--grace-period=0", "--force", "--wait=false"
        )

        def new_one_leads() -> bool:
            pods = cluster.list("pod", selector, SYSTEM)
            return any(
                p["metadata"]["uid"] not in old
                and any(
                    c["type"] == "Ready" and c["status"] == "True" for c in p["status"].get("conditions", [])
                )
                for p in pods
            )

        cluster.until("a new operator is ready", new_one_leads)
        other = on_air.add_destination(
            "rtmp://onair-mediamtx.onair-system.svc:1935/live", key=f"late-{on_air.project}"
        )
        cluster.until(
            "the new operator acts",
            lambda: connect_of(cluster, other) == "Connected",
        )
        receiver.wait_steady(path)
    record(media_gap_s=gap.longest_s)
    assert gap.certain_s < QUIET_S
    assert epoch(cluster, on_air) == 1
    assert cluster.get("pod", pod)["metadata"]["uid"] == uid


def test_a_restarted_api_server_costs_no_media(
    on_air: LiveShow,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    record: Record,
) -> None:
    node = f"{cluster.name}-control-plane"
    with GapMonitor(receiver, path) as gap:
        subprocess.run(
            ["docker", "exec", node, "sh", "-c", "kill -9 $(pidof kube-apiserver)"],
            check=True,
            capture_output=True,
        )

        def responds() -> Any:
            try:
                return cluster.kubectl("get", "--raw", "/readyz", stderr=subprocess.DEVNULL) == "ok"
            except subprocess.CalledProcessError:
                return False

        cluster.until("the API server responds", responds, 120)
        receiver.wait_steady(path)
        assert epoch(cluster, on_air) == 1

        def writes_again() -> bool:
            on_air.facade.http.patch(
                f"/live/v2{on_air.path}", json={"metadata": {"seen": True}, "updateMask": "metadata"}
            )
            return on_air.facade.http.get(f"/live/v2{on_air.path}").is_success

        cluster.until("the facade writes again", writes_again, 60)
    record(media_gap_s=gap.longest_s)
    assert gap.certain_s < QUIET_S
    assert on_air.status()["phase"] == "PROJECT_BROADCAST_PHASE_RUNNING"
