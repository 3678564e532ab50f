"""Measures a cold start: from the HTTP request to the first packet at the RTMP server; no pod exists."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import httpx
from tests.support.cluster import PROBE, LocalCluster, address
from tests.support.receiver import ReceiverClient
from tests.support.shows import FacadeClient, LiveShow

RUNS = 5


class PodWatch:
    """Records when a watch first reports a pod of a project, by this machine's clock."""

    def __init__(self, cluster: LocalCluster, project: str) -> None:
        self._project = project
        self.created_at: float | None = None
        self._cluster = cluster
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._begun.wait(10), "the watch does not begin"

    def _run(self) -> None:
        process = self._cluster.watch_pods()
        assert process.stdout
        for line in process.stdout:
            # kubectl watches from the list of pods that it prints first: those of the system are always there
            self._begun.set()
            if line.startswith(f"pod/{self._project}-"):
                self.created_at = time.time()
                break
        process.kill()

    def wait(self) -> float:
        """Waits for the pod; returns when it was reported, seconds of the wall clock."""
        self._thread.join(30)
        assert self.created_at is not None, "no pod was created"
        return self.created_at


def one_start(show: LiveShow, cluster: LocalCluster, receiver: ReceiverClient, name: str) -> dict[str, float]:
    watch = PodWatch(cluster, show.project)
    requested = time.time()
    show.start()
    responded = time.time()
    arrived = receiver.wait_ready(name, 60)
    pod = watch.wait()
    show.wait_phase("RUNNING")
    running = time.time()
    return {
        "response": responded - requested,
        "pod": pod - responded,
        "packet": arrived - requested,
        "running": running - requested,
    }


def test_cold_start(
    facade_client: FacadeClient,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    report: Callable[..., float],
) -> None:
    starts: list[dict[str, float]] = []
    for number in range(RUNS):
        show = facade_client.show(PROBE, 1280, 720)
        show.add_destination(**address(f"{path}-{number}"))
        try:
            starts.append(one_start(show, cluster, receiver, f"{path}-{number}"))
        except httpx.HTTPError as error:
            raise AssertionError(f"run {number}: {error}") from error
        finally:
            show.delete()
            cluster.wait_without_pods([show.project])
    report("POST start → response", [s["response"] for s in starts], "s")
    pod = report("response → pod created", [s["pod"] for s in starts], "s", 0.3)
    packet = report("POST start → first packet, cold", [s["packet"] for s in starts], "s", 6.0)
    report("POST start → Running", [s["running"] for s in starts], "s")
    assert pod < 0.6
    assert packet < 12
