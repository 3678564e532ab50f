"""From the start over HTTP to the first packet at the RTMP server, cold: the pod does not exist yet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import httpx
from tests.support.cluster import PROBE, SHOWS, Cluster, address
from tests.support.receiver import Receiver
from tests.support.shows import Facade, Show

RUNS = 5


class PodWatch:
    """Notes when a pod of a project is first told by a watch, by this machine's clock."""

    def __init__(self, cluster: Cluster, project: str) -> None:
        self._project = project
        self.created_at: float | None = None
        self._cluster = cluster
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)
        time.sleep(1.0)  # kubectl says nothing when its watch is up

    def _run(self) -> None:
        process = self._cluster.watch_pods(SHOWS, f"onair.dev/project={self._project}")
        self._ready.set()
        assert process.stdout
        for line in process.stdout:
            if line.strip():
                self.created_at = time.time()
                break
        process.kill()

    def seen(self) -> float:
        self._thread.join(30)
        assert self.created_at is not None, "no pod was created"
        return self.created_at


def one_start(show: Show, cluster: Cluster, receiver: Receiver, name: str) -> dict[str, float]:
    watch = PodWatch(cluster, show.project)
    requested = time.time()
    show.start()
    answered = time.time()
    arrived = receiver.wait_ready(name, 60)
    pod = watch.seen()
    show.wait_phase("RUNNING")
    running = time.time()
    return {
        "answer": answered - requested,
        "pod": pod - answered,
        "packet": arrived - requested,
        "running": running - requested,
    }


def test_cold_start(
    facade: Facade,
    cluster: Cluster,
    receiver: Receiver,
    path: str,
    report: Callable[..., float],
) -> None:
    taken: list[dict[str, float]] = []
    for number in range(RUNS):
        show = facade.show(PROBE, 1280, 720)
        show.add_destination(**address(f"{path}-{number}"))
        try:
            taken.append(one_start(show, cluster, receiver, f"{path}-{number}"))
        except httpx.HTTPError as error:
            raise AssertionError(f"run {number}: {error}") from error
        finally:
            show.delete()
            cluster.until(
                "the pod is gone", lambda: not cluster.list("pod", "app.kubernetes.io/component=encoder")
            )
    report("POST start → answer", [t["answer"] for t in taken], "s")
    pod = report("answer → pod created", [t["pod"] for t in taken], "s", 0.3)
    packet = report("POST start → first packet (cold)", [t["packet"] for t in taken], "s", 6.0)
    report("POST start → Running", [t["running"] for t in taken], "s")
    assert pod < 0.6
    assert packet < 12
