"""Freezes the nodes of the local cluster while tests run that need none: idle, they take much of a core."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter

from tests.support.cluster import SHOWS, SYSTEM, LocalCluster
from tests.support.side_by_side import WITH_MEDIA
from tests.support.waiting import wait_for

WITHOUT = ("unit", "integration", WITH_MEDIA)
"""Parts that need no cluster, in the order in which they run."""
LAST_TESTS = 25
"""Of these parts, during which the cluster comes back: kubelets report and leaders are elected."""
SETTLED_S, SETTLES_S = 5.0, 120.0
ENCODERS = "app.kubernetes.io/component=encoder"


class ClusterRest:
    """Of a run of tests with several parts, in the process that reports."""

    def __init__(self) -> None:
        self._frozen: list[str] = []
        self._done = 0

    def test_ended(self, part: str, counts: Counter[str]) -> None:
        """
        Args:
            counts: how many tests each part of this run has.
        """
        if part not in WITHOUT or not counts["e2e"] or "KUBECONFIG" not in os.environ:
            return
        left = sum(counts[each] for each in WITHOUT) - self._done
        if not self._done and left > 2 * LAST_TESTS and not _is_used():
            self._frozen = _nodes("running")
            _docker("pause", *self._frozen)
        self._done += 1
        if left <= LAST_TESTS:
            self.end()

    def end(self) -> None:
        """Has the nodes go on; does not wait for them."""
        if self._frozen:
            _docker("unpause", *self._frozen)
            self._frozen = []


def awaken(cluster: LocalCluster) -> None:
    """Waits until all nodes and the installation's pods have been ready for some seconds."""
    if frozen := _nodes("paused"):
        _docker("unpause", *frozen)
    since = time.monotonic()

    def settled() -> bool:
        nonlocal since
        if not _is_ready(cluster):
            since = time.monotonic()
        return time.monotonic() - since >= SETTLED_S

    wait_for(settled, "the cluster's nodes and pods stay ready", SETTLES_S, poll_s=0.5)


def _is_ready(cluster: LocalCluster) -> bool:
    try:
        nodes, pods = cluster.list("node"), cluster.list("pod", namespace=SYSTEM)
    except subprocess.CalledProcessError:
        return False
    going = [each for each in pods if each["metadata"].get("deletionTimestamp")]
    return not going and all(
        condition["status"] == "True"
        for each in (*nodes, *pods)
        for condition in each["status"].get("conditions") or ()
        if condition["type"] == "Ready"
    )


def _is_used() -> bool:
    """Whether somebody has a show on air there."""
    return bool(_output("kubectl", "-n", SHOWS, "get", "pods", "-l", ENCODERS, "-o", "name"))


def _nodes(state: str) -> list[str]:
    cluster = f"label=io.x-k8s.kind.cluster={os.environ.get('ONAIR_CLUSTER', 'onair')}"
    filters = ("--filter", cluster, "--filter", f"status={state}")
    return _output("docker", "ps", *filters, "--format", "{{.Names}}").split()


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout.strip()


def _docker(*arguments: str) -> None:
    subprocess.run(["docker", *arguments], capture_output=True, check=False, timeout=60)
