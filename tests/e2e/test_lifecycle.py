"""Tests starting, stopping, expiry and deletion of shows, over HTTP and with kubectl alone."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Callable

import httpx
import numpy as np
import pytest
from tests.support.cluster import LocalCluster
from tests.support.media.painted import read_frame
from tests.support.receiver import ReceiverClient
from tests.support.shows import LiveShow


def test_a_start_while_running_returns_the_running_id_and_a_stop_ends_it(
    on_air: LiveShow, cluster: LocalCluster, receiver: ReceiverClient, path: str
) -> None:
    broadcast = on_air.status()["broadcastId"]
    assert on_air.start() == broadcast
    pod = cluster.encoder_pod(on_air.project)
    on_air.stop()
    stopped = on_air.wait_phase("STOPPED", 20)
    assert stopped["broadcastId"] == broadcast
    assert stopped["stop"] > stopped["start"]
    cluster.until("the stream has ended", lambda: not receiver.ready(path), 10)
    cluster.until("the pod is deleted", lambda: pod not in cluster.shows("get", "pods", "-o", "name"), 30)
    on_air.stop()
    assert on_air.start() != broadcast
    on_air.wait_phase("STARTING")
    on_air.stop()
    on_air.wait_phase("STOPPED", 20)


def test_a_snapshot_of_a_running_show(on_air: LiveShow, cluster: LocalCluster) -> None:
    def snapshot(**headers: str) -> httpx.Response:
        path = f"/live/v2{on_air.path}/broadcast/snapshot"
        return on_air.facade.http.get(path, headers=headers)

    def painted_ms() -> float | None:
        response = snapshot()
        if response.status_code == 503:  # it asks to try again
            return None
        response.raise_for_status()
        assert response.headers["Content-Type"] == "image/jpeg"
        command = ["ffmpeg", "-v", "error", "-i", "-", "-pix_fmt", "gray", "-f", "rawvideo", "-"]
        raw = subprocess.run(command, input=response.content, check=True, capture_output=True).stdout
        painted = read_frame(np.frombuffer(raw, np.uint8).reshape(360, 640))
        return painted.wall_ms if painted else None

    # The first key frame may be of the page's first paint, which has its background alone
    wall_ms = cluster.until("a key frame has what the page paints", painted_ms, 10)
    assert abs(time.time() * 1000 - wall_ms) < 5000
    record = snapshot(Accept="application/json").raise_for_status().json()
    assert record["format"] == "IMAGE_FORMAT_JPEG"
    assert base64.b64decode(record["image"]).startswith(b"\xff\xd8")


def test_max_duration_ends_a_show_with_an_error(
    make_show: Callable[..., LiveShow], cluster: LocalCluster
) -> None:
    show = make_show(maxDuration=4000)
    show.start()
    try:
        status = show.wait_phase("STOPPED")
    except AssertionError:  # seen beside other shows on a busy machine: what its parts say of it
        print(json.dumps(cluster.get("project", show.project)["status"], indent=1))
        print(cluster.shows("logs", cluster.encoder_pod(show.project), "--all-containers", "--tail=200"))
        raise
    assert 4000 <= status["duration"] < 9000
    project = cluster.get("project", show.project)["status"]
    assert project["broadcast"]["error"] == "DurationExceeded"
    assert project["conditions"][0]["reason"] == "DurationExceeded"


def test_an_unreachable_composition_is_reported(
    make_show: Callable[..., LiveShow], cluster: LocalCluster
) -> None:
    show = make_show("http://no-such-host.example/")
    show.start()

    def is_reported() -> bool:
        conditions = cluster.get("project", show.project).get("status", {}).get("conditions", [])
        return any(c["reason"] == "CompositionUnreachable" for c in conditions)

    cluster.until("the condition CompositionUnreachable", is_reported)
    assert show.status()["phase"] == "PROJECT_BROADCAST_PHASE_STARTING"


def test_an_invalid_manifest_is_rejected_with_a_reason(cluster: LocalCluster) -> None:
    bad = (
        "apiVersion: onair.dev/v1alpha1\nkind: Project\nmetadata: {name: x, namespace: shows}\n"
        "spec: {collectionId: a, composition: {scene: {}, external: {url: 'https://a.example'}}}\n"
    )
    with pytest.raises(subprocess.CalledProcessError) as rejected:
        cluster.kubectl("apply", "-f", "-", input=bad, stderr=subprocess.STDOUT)
    assert "exactly one of studioSdk, scene, external must be given" in rejected.value.output
