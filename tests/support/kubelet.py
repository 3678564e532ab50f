"""A scheduler and four nodes for tests on a bare API server: runs each pod's real containers in Docker.

Nodes can be frozen, and pods cut off from the operator.
"""

from __future__ import annotations

import base64
import datetime as dt
import itertools
import shutil
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

import httpx
from tests.support.docker import own_image
from tests.support.running_pod import RunningPod

from onair_crds.shapes import Document

NODES = ("node-1", "node-2", "node-3", "node-4")
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
POLL_S = 0.1
LEASE_INTERVAL_S = 2.0


class ContainerKubelets:
    """Use as a context manager; all containers are gone afterwards."""

    def __init__(self, admin: httpx.Client, namespace: str) -> None:
        self._admin, self._namespace = admin, namespace
        self._image = own_image("encoder")
        self._folder = Path(tempfile.mkdtemp(prefix="onair-kubelets-"))
        self._folder.chmod(0o755)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._leased = 0.0
        self._lock = threading.Lock()
        self._frozen: set[str] = set()
        self._number = itertools.count(1)
        self._pods: dict[str, RunningPod] = {}
        """By uid: those that run."""
        self.failure: Exception | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        for pod in self._pods.values():
            pod.end(grace_s=0)
        shutil.rmtree(self._folder, ignore_errors=True)

    def running(self) -> list[RunningPod]:
        """Pods with containers, the oldest first."""
        with self._lock:
            return sorted(self._pods.values(), key=lambda pod: pod.number)

    def freeze(self, pod: RunningPod) -> None:
        """Suspends the node of a pod: its containers and its kubelet."""
        with self._lock:
            self._frozen.add(pod.node)
            for each in self._pods.values():
                if each.node == pod.node:
                    each.freeze()

    def hide_from_operator(self, pod: RunningPod) -> None:
        """Drops what arrives at a pod's control port; all else goes through."""
        with self._lock:
            pod.hide_from_operator()

    def heal(self) -> None:
        """Resumes all nodes and lets the operator reach all pods."""
        with self._lock:
            self._frozen.clear()
            for each in self._pods.values():
                each.thaw()
                each.show_to_operator()

    def _run(self) -> None:
        try:
            while not self._ending.wait(POLL_S):
                # Without an API server a kubelet leaves its pods as they are
                with suppress(httpx.TransportError):
                    self._renew_leases()
                    with self._lock:
                        self._sync()
        except Exception as error:  # noqa: BLE001 - the test reports it
            self.failure = error

    def _renew_leases(self) -> None:
        if time.monotonic() - self._leased < LEASE_INTERVAL_S:
            return
        self._leased = time.monotonic()
        for node in set(NODES) - self._frozen:
            renewed = f"{dt.datetime.now(dt.UTC):%FT%T.%fZ}"
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": node}}
            spec = {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": renewed}
            self._admin.patch(
                f"{LEASES}/{node}",
                params={"fieldManager": "kubelet", "force": "true"},
                headers={"Content-Type": "application/apply-patch+yaml"},
                json={**lease, "spec": spec},
            ).raise_for_status()

    def _sync(self) -> None:
        response = self._admin.get(f"/api/v1/namespaces/{self._namespace}/pods").raise_for_status()
        wanted = {each["metadata"]["uid"]: each for each in response.json()["items"]}
        for uid in self._pods.keys() - wanted.keys():
            if self._pods[uid].node not in self._frozen:
                self._pods.pop(uid).end(grace_s=0)
        for uid, document in wanted.items():
            if document["metadata"].get("deletionTimestamp"):
                self._end(uid, document)
            elif uid not in self._pods:
                self._start(uid, document)

    def _start(self, uid: str, document: Document) -> None:
        name = document["metadata"]["name"]
        root = f"/api/v1/namespaces/{self._namespace}"
        identity = self._admin.get(f"{root}/secrets/{_identity(document)}")
        busy = [pod.node for pod in self._pods.values()]
        nodes = sorted(set(NODES) - self._frozen, key=lambda node: (busy.count(node), node))
        if identity.is_error or not nodes:
            return  # a kubelet waits for it, too
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": nodes[0]},
        }
        self._admin.post(f"{root}/pods/{name}/binding", json=binding)
        files = {key: base64.b64decode(value) for key, value in identity.json()["data"].items()}
        pod = RunningPod(document, nodes[0], next(self._number), self._folder / uid, self._image, files)
        self._pods[uid] = pod
        self._report(pod, {"phase": "Running", "podIP": pod.address, "podIPs": [{"ip": pod.address}]})

    def _report(self, pod: RunningPod, status: Document) -> None:
        ready = [{"type": kind, "status": "True"} for kind in ("PodScheduled", "ContainersReady", "Ready")]
        self._admin.patch(
            f"/api/v1/namespaces/{self._namespace}/pods/{pod.name}/status",
            headers={"Content-Type": "application/merge-patch+json"},
            json={"status": {"hostIP": "127.0.0.1", "conditions": ready, **status}},
        )

    def _end(self, uid: str, document: Document) -> None:
        metadata = document["metadata"]
        if pod := self._pods.get(uid):
            if pod.node in self._frozen:
                return  # nobody confirms that it has ended
            pod.end(metadata.get("deletionGracePeriodSeconds", 0))
            del self._pods[uid]
        self._admin.request(
            "DELETE",
            f"/api/v1/namespaces/{self._namespace}/pods/{metadata['name']}",
            json={"gracePeriodSeconds": 0, "preconditions": {"uid": uid}},
        )


def _identity(document: Document) -> str:
    return next(str(v["secret"]["secretName"]) for v in document["spec"]["volumes"] if "secret" in v)
