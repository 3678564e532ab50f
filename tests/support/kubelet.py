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
from tests.support.docker import address_of, docker, host_address, kill_within, own_image, remove
from tests.support.pod_pair import SECCOMP

from onair_crds.contract.labels import PROJECT_LABEL
from onair_crds.contract.pod import CONTROL_PORT
from onair_crds.shapes import Document
from onair_dev.cluster.base_images import node_image

NODES = ("node-1", "node-2", "node-3", "node-4")
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
POLL_S = 0.1
LEASE_INTERVAL_S = 2.0


def cpu_shares(request: str) -> int:
    """What a kubelet makes of a CPU request, `375m`."""
    return max(2, int(request.removesuffix("m")) * 1024 // 1000)


class Kubelets:
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


class RunningPod:
    """The containers of one pod, as its manifest says: users, volumes, environment, no rights."""

    def __init__(
        self,
        document: Document,
        node: str,
        number: int,
        folder: Path,
        image: str,
        identity: dict[str, bytes],
    ) -> None:
        self.name = str(document["metadata"]["name"])
        self.project = str(document["metadata"]["labels"][PROJECT_LABEL])
        self.node, self.number = node, number
        self._frozen = self._hidden = False
        self._containers: list[str] = []
        self._folder, self._spec = folder, document["spec"]
        volumes = {each["name"]: self._volume(each, identity) for each in self._spec["volumes"]}
        self.address = ""
        first, *others = self._spec["containers"]
        uid = str(document["metadata"]["uid"])
        self._run(first, volumes, image, uid)
        # They need the pod's network, here the first container's; nobody names it a page until others run
        for container in self._spec.get("initContainers", []):
            self._run_to_its_end(container, image)
        for container in others:
            self._run(container, volumes, image, uid)

    def _volume(self, volume: Document, identity: dict[str, bytes]) -> Path:
        path: Path = self._folder / volume["name"]
        path.mkdir(parents=True)
        path.chmod(0o777)
        if "secret" in volume:
            for name, content in identity.items():
                (path / name).write_bytes(content)
        return path

    def _run(self, container: Document, volumes: dict[str, Path], image: str, uid: str) -> None:
        name = f"onair-test-{uid[:8]}-{container['name']}"
        context = container["securityContext"]
        group = self._spec["securityContext"]["runAsGroup"]
        mounts = [("-v", f"{volumes[m['name']]}:{m['mountPath']}") for m in container["volumeMounts"]]
        shared = (
            ("--network", f"container:{self._containers[0]}", "--ipc", f"container:{self._containers[0]}")
            if self._containers
            else ("--ipc", "shareable", "--hostname", self._spec.get("hostname", self.name)[:63])
        )
        # The profile that the chart installs on nodes
        profile = SECCOMP if "seccompProfile" in context else ()
        variables = [("-e", f"{each['name']}={self._value(each)}") for each in container["env"]]
        docker(
            *("run", "-d", "--name", name, "--user", f"{context['runAsUser']}:{group}", *shared),
            *("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", *profile),
            *("--cpu-shares", str(cpu_shares(container["resources"]["requests"]["cpu"]))),
            *(part for pair in (*mounts, *variables) for part in pair),
            image,
            *container["args"],
        )
        self._containers.append(name)
        self.address = self.address or address_of(name)

    def _run_to_its_end(self, container: Document, image: str) -> None:
        context = container["securityContext"]
        variables = [("-e", f"{each['name']}={self._value(each)}") for each in container["env"]]
        docker(
            *("run", "--rm", "--user", f"{context['runAsUser']}:{context['runAsGroup']}"),
            *("--network", f"container:{self._containers[0]}", "--read-only", "--cap-drop=ALL"),
            *(f"--cap-add={each}" for each in context["capabilities"]["add"]),
            *("--security-opt=no-new-privileges", *(part for pair in variables for part in pair)),
            image,
            *container["args"],
        )

    def _value(self, variable: Document) -> str:
        if "value" in variable:
            return str(variable["value"])
        if resource := variable["valueFrom"].get("resourceFieldRef"):
            (container,) = (
                each for each in self._spec["containers"] if each["name"] == resource["containerName"]
            )
            assert (resource["resource"], resource["divisor"]) == ("requests.cpu", "1m")
            return str(container["resources"]["requests"]["cpu"].removesuffix("m"))
        field = variable["valueFrom"]["fieldRef"]["fieldPath"]
        known = {"status.podIP": self.address, "status.hostIPs": host_address(), "metadata.name": self.name}
        return known[field]

    def kill(self, container: str, program: str) -> None:
        """Kills a process in one of its containers, as a crash would."""
        name = self.container(container)
        assert kill_within(name, program), f"no {program} in {name}"

    def container(self, name: str) -> str:
        """A container's name in Docker."""
        (found,) = [each for each in self._containers if each.endswith(f"-{name}")]
        return found

    @property
    def containers(self) -> list[str]:
        """Names of all of them in Docker."""
        return list(self._containers)

    def freeze(self) -> None:
        """Suspends all its processes; its connections stay."""
        if not self._frozen:
            docker("pause", *self._containers)
        self._frozen = True

    def thaw(self) -> None:
        if self._frozen:
            docker("unpause", *self._containers)
        self._frozen = False

    def hide_from_operator(self) -> None:
        if not self._hidden:
            self._firewall("-A")
        self._hidden = True

    def show_to_operator(self) -> None:
        if self._hidden:
            self._firewall("-D")
        self._hidden = False

    def _firewall(self, verb: str) -> None:
        docker(
            *("run", "--rm", "--cap-add", "NET_ADMIN", "--network", f"container:{self._containers[0]}"),
            *("--entrypoint", "iptables", node_image(), verb, "INPUT"),
            *("-p", "tcp", "--dport", str(CONTROL_PORT), "-j", "DROP"),
        )

    def end(self, grace_s: int) -> None:
        """Ends its containers as a kubelet does: SIGTERM, and SIGKILL after the grace period."""
        self.thaw()
        if grace_s:
            docker("stop", "-t", str(grace_s), *reversed(self._containers))
        for name in reversed(self._containers):
            remove(name)
        shutil.rmtree(self._folder, ignore_errors=True)


def _identity(document: Document) -> str:
    return next(str(v["secret"]["secretName"]) for v in document["spec"]["volumes"] if "secret" in v)
