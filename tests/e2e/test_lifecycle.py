"""Tests starting, stopping, expiry and deletion of shows, over HTTP and with kubectl alone."""

from __future__ import annotations

import base64
import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import yaml
from tests.support.cluster import SYSTEM, LocalCluster
from tests.support.media.painted import read_frame
from tests.support.receiver import Receiver
from tests.support.shows import FacadeClient, LiveShow

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_start_while_running_returns_the_running_id_and_a_stop_ends_it(
    on_air: LiveShow, cluster: LocalCluster, receiver: Receiver, path: str
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
        return on_air.facade.http.get(path, headers=headers).raise_for_status()

    def painted_ms() -> float | None:
        response = snapshot()
        assert response.headers["Content-Type"] == "image/jpeg"
        command = ["ffmpeg", "-v", "error", "-i", "-", "-pix_fmt", "gray", "-f", "rawvideo", "-"]
        raw = subprocess.run(command, input=response.content, check=True, capture_output=True).stdout
        painted = read_frame(np.frombuffer(raw, np.uint8).reshape(360, 640))
        return painted.wall_ms if painted else None

    # The first key frame may be of the page's first paint, which has its background alone
    wall_ms = cluster.until("a key frame has what the page paints", painted_ms, 5)
    assert abs(time.time() * 1000 - wall_ms) < 5000
    record = snapshot(Accept="application/json").json()
    assert record["format"] == "IMAGE_FORMAT_JPEG"
    assert base64.b64decode(record["image"]).startswith(b"\xff\xd8")


def test_a_show_runs_in_the_nearest_region(make_show: Callable[..., LiveShow], cluster: LocalCluster) -> None:
    show = make_show(location={"latitude": 48.1, "longitude": 11.6})
    show.start()
    status = show.wait_phase("RUNNING")
    assert status["region"] == "REGION_EU_CENTRAL_1"
    assert status["datacenter"] == "eu-central-1a"
    node = cluster.get("pod", cluster.encoder_pod(show.project))["spec"]["nodeName"]
    labels = json.loads(cluster.kubectl("get", "node", node, "-o", "json"))["metadata"]["labels"]
    assert labels["topology.kubernetes.io/region"] == "eu-central-1"


def test_max_duration_ends_a_show_with_an_error(
    make_show: Callable[..., LiveShow], cluster: LocalCluster
) -> None:
    show = make_show(maxDuration=4000)
    show.start()
    status = show.wait_phase("STOPPED")
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


@pytest.fixture
def no_facade(cluster: LocalCluster, facade: FacadeClient) -> Iterator[None]:
    """Scales the HTTP interface to zero for the test; the next one finds it on every node again."""
    cluster.kubectl("-n", SYSTEM, "scale", "deployment/onair-api", "--replicas=0")
    cluster.kubectl(
        "-n", SYSTEM, "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/component=api", "--timeout=60s"
    )
    yield
    cluster.kubectl("-n", SYSTEM, "scale", "deployment/onair-api", "--replicas=1")
    cluster.kubectl("-n", SYSTEM, "rollout", "status", "deployment/onair-api", "--timeout=120s")
    cluster.until("it responds whenever it is asked", lambda: all(_responds(facade) for _ in range(20)))


def _responds(facade: FacadeClient) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return facade.http.get("/openapi.json").is_success
    return False


def test_a_show_runs_from_manifests_alone(
    no_facade: None, cluster: LocalCluster, receiver: Receiver, tmp_path: Path
) -> None:
    documents = [d for f in sorted(EXAMPLES.glob("*.yaml")) for d in yaml.safe_load_all(f.read_text()) if d]
    show = next(
        d for d in documents if d["kind"] == "Project" and d["spec"]["broadcast"]["state"] == "Running"
    )
    show["spec"]["rendering"]["video"].update(width=640, height=360)
    # As JSON: a `y` that PyYAML writes is read as `true` by kubectl
    manifests = tmp_path / "show.json"
    manifests.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    secret = next(d for d in documents if d["kind"] == "Secret")
    path = "live/" + next(iter(secret["stringData"].values()))
    name = show["metadata"]["name"]
    try:
        cluster.kubectl("apply", "-f", str(manifests))
        cluster.shows("wait", f"project/{name}", "--for=condition=Ready", "--timeout=60s")
        receiver.wait_ready(path, 30)
        listed = cluster.shows("get", "projects", name)
        assert "Running" in listed
        assert "1/1" in listed
        cluster.shows(
            "patch", "project", name, "--type=merge", "-p", '{"spec":{"broadcast":{"state":"Stopped"}}}'
        )
        cluster.until("the stream has ended", lambda: not receiver.ready(path), 30)
        cluster.kubectl("apply", "-f", str(manifests))
        receiver.wait_ready(path, 60)
    finally:
        started = time.monotonic()
        # What is deleted with its owner may be gone before it is its turn
        cluster.kubectl("delete", "-f", str(manifests), "--ignore-not-found", "--timeout=60s")
    assert time.monotonic() - started < 60
    assert not receiver.ready(path)


def test_an_invalid_manifest_is_rejected_with_a_reason(cluster: LocalCluster) -> None:
    bad = (
        "apiVersion: onair.dev/v1alpha1\nkind: Project\nmetadata: {name: x, namespace: shows}\n"
        "spec: {collectionId: a, composition: {scene: {}, external: {url: 'https://a.example'}}}\n"
    )
    with pytest.raises(subprocess.CalledProcessError) as rejected:
        cluster.kubectl("apply", "-f", "-", input=bad, stderr=subprocess.STDOUT)
    assert "exactly one of studioSdk, scene, external must be given" in rejected.value.output
