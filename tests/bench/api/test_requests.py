"""Compares GET with a bare route that serves the same bytes, and PATCH with one to the API server."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import httpx
from tests.support.control_plane import ControlPlane, free_port
from tests.support.facade import StoredResources
from tests.support.replica import LOAD, MeasuredProcess, ReplicaProcess
from tests.support.waiting import wait_for

CONNECTIONS, SECONDS, ROUNDS = 16, 4, 3
PATCHES = 300
LIVE = "/live/v2"


def make_project(replica: ReplicaProcess) -> tuple[httpx.Client, str, bytes]:
    http = httpx.Client(
        base_url=f"http://127.0.0.1:{replica.port}",
        headers={"Authorization": f"Bearer {replica.token}"},
        trust_env=False,
    )
    collection = http.post(f"{LIVE}/collection", json={}).raise_for_status().json()["collection"]
    path = f"{LIVE}/collection/{collection['collectionId']}/project"
    body = {"composition": {"external": {"url": "https://graphics.example.org/stage"}}}
    project = http.post(path, json=body).raise_for_status().json()["project"]
    path = f"{path}/{project['projectId']}"
    return http, path, http.get(path).raise_for_status().content


def rate(server: MeasuredProcess, port: int, path: str, token: str, programs: list[MeasuredProcess]) -> float:
    """Measures requests per second of the server's CPU time."""
    before = server.cpu_s()
    load = MeasuredProcess(
        [str(LOAD / "requester.py"), str(port), path, token, str(CONNECTIONS), str(SECONDS)]
    )
    programs.append(load)
    result = load.line()
    return float(result["requests"] / (server.cpu_s() - before))


def test_get_project(
    programs: list[MeasuredProcess], replica: ReplicaProcess, report: Callable[..., float]
) -> None:
    _, path, body = make_project(replica)
    port = free_port()
    bare = MeasuredProcess([str(LOAD / "bare_route.py"), str(port)])
    programs.append(bare)
    assert bare.process.stdin
    bare.process.stdin.write(body.decode() + "\n")
    bare.process.stdin.flush()
    wait_for(lambda: _serves(port, path, body), "the bare route serves the same bytes")
    ours, bares = [], []
    for _ in range(ROUNDS):
        ours.append(rate(replica.program, replica.port, path, replica.token, programs))
        bares.append(rate(bare, port, path, replica.token, programs))
    report("GET project per core", ours, "/s")
    report("bare route per core", bares, "/s")
    ratio = statistics.median(ours) / statistics.median(bares)
    report("GET project ÷ bare route", [ratio], "", at_least=0.6)
    assert ratio >= 0.6 / 2


def _serves(port: int, path: str, body: bytes) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False).content == body
    except httpx.TransportError:
        return False


def test_patch_project(
    replica: ReplicaProcess,
    resources: StoredResources,
    control_plane: ControlPlane,
    report: Callable[..., float],
) -> None:
    http, path, _ = make_project(replica)
    name = path.rpartition("/")[2]
    through, direct = [], []
    with control_plane.client() as kubernetes:
        for number in range(PATCHES):
            body = {"updateMask": "metadata", "metadata": {"number": number}}
            started = time.perf_counter()
            http.patch(path, json=body).raise_for_status()
            through.append((time.perf_counter() - started) * 1000)
            # The facade sends the same: a JSON patch that applies only to the version it names
            found = kubernetes.get(resources.path("projects", name)).raise_for_status().json()
            operations = [
                {
                    "op": "replace",
                    "path": "/metadata/resourceVersion",
                    "value": found["metadata"]["resourceVersion"],
                },
                {"op": "replace", "path": "/spec/metadata", "value": {"direct": number}},
            ]
            started = time.perf_counter()
            kubernetes.patch(
                resources.path("projects", name),
                json=operations,
                headers={"Content-Type": "application/json-patch+json"},
            ).raise_for_status()
            direct.append((time.perf_counter() - started) * 1000)
    report("PATCH project", through, "ms")
    report("PATCH to the API server", direct, "ms")
    above = statistics.median(through) - statistics.median(direct)
    report("PATCH project, p50 above the API server", [above], "ms", 4.0)
    assert above < 2 * 4.0
