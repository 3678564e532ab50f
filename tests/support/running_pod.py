"""The containers of one pod in Docker, as a kubelet runs them from its manifest."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.support.docker import address_of, docker, host_address, kill_within, remove
from tests.support.pod_pair import SECCOMP

from onair_crds.contract.labels import PROJECT_LABEL
from onair_crds.contract.pod import CONTROL_PORT
from onair_crds.shapes import Document
from onair_dev.cluster.base_images import node_image


def cpu_shares(request: str) -> int:
    """What a kubelet makes of a CPU request, `375m`."""
    return max(2, int(request.removesuffix("m")) * 1024 // 1000)


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
        self._hidden = False
        self._frozen: list[str] = []
        """Containers that are suspended."""
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
            kind, name = resource["resource"].split(".")
            quantity = container["resources"][kind][name]
            match name, resource["divisor"]:
                case "cpu", "1m":
                    return str(quantity.removesuffix("m"))
                case "memory", "1":
                    return str(int(quantity.removesuffix("Mi")) << 20)
            raise AssertionError(f"unknown here: {resource}")
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

    def logs(self, container: str) -> str:
        """All that a container has logged, by its name in Docker."""
        done = subprocess.run(["docker", "logs", container], check=True, capture_output=True, text=True)
        return done.stdout + done.stderr

    def freeze(self) -> None:
        """Suspends all its processes; its connections stay. A container may have ended by itself."""
        if not self._frozen:
            states = docker("inspect", "--format", "{{.Name}} {{.State.Running}}", *self._containers)
            running = [line.split()[0].lstrip("/") for line in states.splitlines() if line.endswith("true")]
            if running:
                docker("pause", *running)
            self._frozen = running

    def thaw(self) -> None:
        if self._frozen:
            docker("unpause", *self._frozen)
        self._frozen = []

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
