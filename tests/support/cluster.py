"""The running cluster of `make up`, through pytest-kind, with waiting."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from typing import Any

from pytest_kind import KindCluster
from tests.support.receiver import IN_CLUSTER_RTMP

SHOWS = "shows"
SYSTEM = "onair-system"
PAGES = "http://onair-demo.onair-system.svc"
PROBE = f"{PAGES}/probe.html"


class Cluster(KindCluster):
    """pytest-kind's cluster with waiting."""

    def shows(self, *arguments: str) -> str:
        return self.kubectl("-n", SHOWS, *arguments)

    def get(self, kind: str, name: str, namespace: str = SHOWS) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.kubectl("-n", namespace, "get", kind, name, "-o", "json"))
        return document

    def list(self, kind: str, selector: str = "", namespace: str = SHOWS) -> list[dict[str, Any]]:
        text = self.kubectl("-n", namespace, "get", kind, "-l", selector, "-o", "json")
        items: list[dict[str, Any]] = json.loads(text)["items"]
        return items

    def watch_pods(self, namespace: str, selector: str) -> subprocess.Popen[str]:
        """A process that prints the name of each pod as soon as it is told of it."""
        command = [str(self.kubectl_path), "-n", namespace, "get", "pods", "-l", selector]
        return subprocess.Popen(
            [*command, "--watch-only", "-o", "name"],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig_path)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def encoder_pod(self, project: str) -> str:
        """Name of the pod that the project's status has claimed."""
        return str(self.get("project", project)["status"]["broadcast"]["pod"])

    def until(self, what: str, check: Callable[[], Any], timeout_s: float = 60.0) -> Any:
        deadline = time.monotonic() + timeout_s
        while True:
            if answer := check():
                return answer
            assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
            time.sleep(0.1)


def address(path: str) -> dict[str, str]:
    """Where a destination in the cluster finds the path: url without, and key with its last part."""
    application, _, key = path.rpartition("/")
    return {"url": f"{IN_CLUSTER_RTMP}/{application}", "key": key}


def connect_of(cluster: Cluster, destination: str) -> str:
    """The destination's status.connect, `None` while nobody has written one."""
    return str(cluster.get("destination", destination).get("status", {}).get("connect"))
