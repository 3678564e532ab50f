"""The running cluster of `make up`, accessed through pytest-kind."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from pytest_kind import KindCluster
from tests.support.docker import KILL
from tests.support.receiver import IN_CLUSTER_RTMP
from tests.support.waiting import wait_for

from onair_crds.shapes import Document

SHOWS = "shows"
SYSTEM = "onair-system"
PAGES = "http://onair-demo.onair-system.svc"
PROBE = f"{PAGES}/probe.html"


class LocalCluster(KindCluster):
    """pytest-kind's cluster, extended by queries and by waiting for conditions."""

    def shows(self, *arguments: str) -> str:
        return str(self.kubectl("-n", SHOWS, *arguments))

    def get(self, kind: str, name: str, namespace: str = SHOWS) -> Document:
        document: Document = json.loads(self.kubectl("-n", namespace, "get", kind, name, "-o", "json"))
        return document

    def list(self, kind: str, selector: str = "", namespace: str = SHOWS) -> list[Document]:
        text = self.kubectl("-n", namespace, "get", kind, "-l", selector, "-o", "json")
        items: list[Document] = json.loads(text)["items"]
        return items

    def watch_pods(self) -> subprocess.Popen[str]:
        """Starts a process that prints the names of all pods, and then one for every watch event."""
        return subprocess.Popen(
            [str(self.kubectl_path), "get", "pods", "--all-namespaces", "--watch", "-o", "name"],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig_path)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def api_key(self) -> str:
        """The API key of the chart that is installed now: a new installation has another one."""
        encoded = self.get("secret", "onair-demo-api-key", SYSTEM)["data"]["apiKey"]
        return base64.b64decode(encoded).decode()

    def delete_left_shows(self, user: str) -> None:
        """Deletes what interrupted tests of this user have left on air; others stay."""
        owners = {each["metadata"]["name"]: each["spec"].get("owner") for each in self.list("collection")}
        left = {name for name, owner in owners.items() if owner and owner["serviceUserId"] == user}
        projects = [each for each in self.list("project") if each["spec"]["collectionId"] in left]
        if left:
            self.shows("delete", "collection", *left)
        self.wait_without_pods([each["metadata"]["name"] for each in projects])

    def wait_without_pods(self, projects: Collection[str]) -> None:
        """Waits until none of these projects has a pod."""
        selector = f"onair.dev/project in ({','.join(projects)})"
        self.until("no pods left", lambda: not (projects and self.list("pod", selector)))

    def delete_collection(self, name: str) -> None:
        """Deletes a collection, if it is there, and waits until its shows have ended."""
        projects = [each for each in self.list("project") if each["spec"]["collectionId"] == name]
        self.shows("delete", "collection", name, "--ignore-not-found")
        self.wait_without_pods([each["metadata"]["name"] for each in projects])

    def encoder_pod(self, project: str) -> str:
        """Returns the name of the pod that the project's status has claimed."""
        return str(self.get("project", project)["status"]["broadcast"]["pod"])

    def running_pod(self, project: str) -> str | None:
        """The name of a project's encoder pod, once its containers run."""
        for pod in self.list("pod", f"app.kubernetes.io/component=encoder,onair.dev/project={project}"):
            states = [each["state"] for each in pod.get("status", {}).get("containerStatuses") or []]
            if states and all("running" in each for each in states):
                return str(pod["metadata"]["name"])
        return None

    def kill_program(self, pod: str, container: str, program: str) -> None:
        """Kills a program of a show's pod, by a part of its command line; it may have to start first."""

        def killed() -> bool:
            within = ("exec", pod, "-c", container, "--", "python3", "-c")
            return bool(self.shows(*within, KILL, program, str(int(signal.SIGKILL))).strip())

        self.until(f"{program} runs", killed, 20)

    @contextmanager
    def one_node(self) -> Iterator[None]:
        """Has new pods come to one worker."""
        workers = [
            each["metadata"]["name"]
            for each in self.list("node", "!node-role.kubernetes.io/control-plane")
            if not each["spec"].get("taints")
        ]
        for each in workers[1:]:
            self.kubectl("cordon", each)
        try:
            yield
        finally:
            for each in workers[1:]:
                self.kubectl("uncordon", each)

    def until(self, what: str, check: Callable[[], Any], timeout_s: float = 60.0) -> Any:
        return wait_for(check, what, timeout_s, poll_s=0.1)


def address(path: str) -> dict[str, str]:
    """Splits a path of the receiver into the url and key of a destination."""
    application, _, key = path.rpartition("/")
    return {"url": f"{IN_CLUSTER_RTMP}/{application}", "key": key}


def connect_of(cluster: LocalCluster, destination: str) -> str:
    """Returns the destination's status.connect, `"None"` if it is not set yet."""
    return str(cluster.get("destination", destination).get("status", {}).get("connect"))
