"""Measures from a change by kubectl to its event, compared with a bare watch of the same change."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from tests.support.control_plane import ControlPlane
from tests.support.facade import StoredResources
from tests.support.replica import LOAD, MeasuredProcess, ReplicaProcess

PROJECTS = 1000
CHANGES, PER_S = 1000, 100
BOUND_MS = 15.0


def test_change_to_event(
    programs: list[MeasuredProcess],
    replica: ReplicaProcess,
    resources: StoredResources,
    control_plane: ControlPlane,
    kubeconfig: Path,
    report: Callable[..., float],
) -> None:
    owner = {"serviceId": "studio", "serviceUserId": "bench"}
    resources.apply("Collection", "collections", "bench", {"owner": owner})
    clients = threading.local()

    def client() -> httpx.Client:
        if not hasattr(clients, "http"):
            clients.http = control_plane.client()
        return clients.http  # type: ignore[no-any-return]

    def create(number: int) -> None:
        document = {
            "apiVersion": "onair.dev/v1alpha1",
            "kind": "Project",
            "metadata": {"name": f"bench-{number}"},
            "spec": {"collectionId": "bench"},
        }
        client().post(resources.path("projects"), json=document).raise_for_status()

    started = 0.0

    def change(number: int) -> None:
        time.sleep(max(0.0, started + number / PER_S - time.monotonic()))
        value = {"bench": f"{number}-{time.monotonic()}"}
        client().patch(
            resources.path("projects", f"bench-{number % PROJECTS}"),
            content=json.dumps({"spec": {"metadata": value}}),
            headers={"Content-Type": "application/merge-patch+json"},
        ).raise_for_status()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(create, range(PROJECTS)))
        # A watch from here on: without a version it would begin with all objects
        listed = client().get(resources.path("projects"), params={"limit": 1}).raise_for_status().json()
        receiver = MeasuredProcess(
            [
                str(LOAD / "change_receiver.py"),
                str(kubeconfig),
                resources.shows,
                listed["metadata"]["resourceVersion"],
                str(replica.port),
                replica.token,
            ]
        )
        programs.append(receiver)
        assert receiver.line() == {"open": 2}
        receiver.measure(CHANGES)
        started = time.monotonic()
        list(threads.map(change, range(CHANGES)))
    delays = receiver.line()
    p50, p99 = ({name: each[len(each) * part // 100] for name, each in delays.items()} for part in (50, 99))
    report("kubectl change → bare watch, p50", [p50["watch"]], "ms")
    report("kubectl change → bare watch, p99", [p99["watch"]], "ms")
    report("kubectl change → event, p50", [p50["stream"]], "ms")
    report("kubectl change → event, p99", [p99["stream"]], "ms")
    above = report("kubectl change → event, p99 above watch", [p99["stream"] - p99["watch"]], "ms", BOUND_MS)
    assert above < 2 * BOUND_MS
