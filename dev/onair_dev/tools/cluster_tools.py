"""kind, helm, kubectl and the programs of the control plane: those installed here, or built from modules."""

import functools
import re

from onair_dev import required_programs as programs
from onair_dev.console_progress import Step
from onair_dev.failures import Failed
from onair_dev.settings import KIND_NODE, KIND_NODE_OUT
from onair_dev.subprocesses import output_of, required_output_of

CLIENTS = ("kind", "helm", "kubectl")
CONTROL_PLANE = ("etcd", "kube-apiserver")
NODE = (
    *("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubeadm"),
    *("kubectl", "etcd", "coredns", "pause"),
)
"""Programs of a node image."""


def discard_stale() -> None:
    """Deletes what was built of programs and of a node image from other inputs than the present ones."""
    required_output_of([KIND_NODE / "discard"], env={"KIND_NODE_OUT": str(KIND_NODE_OUT)})


def build(current: Step, names: tuple[str, ...]) -> None:
    """Builds programs, except those that are in the cache already.

    Raises:
        Failed: a build failed.
    """
    current.run(
        f"building {', '.join(names) if len(names) <= len(CLIENTS) else f'{len(names)} programs'}",
        f"tools-{names[0]}",
        [KIND_NODE / "build", "programs"],
        env={"KIND_NODE_OUT": str(KIND_NODE_OUT), "PROGRAMS": " ".join(names)},
        remedy="read the log; a retry continues the build",
    )


def absent(names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns those of the programs that are neither in the cache nor installed."""
    return tuple(name for name in names if not programs.find(name))


def unbuilt(names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns those of the programs that are not in the cache."""
    return tuple(name for name in names if not (programs.BUILT / name).exists())


@functools.cache
def program(name: str) -> str:
    """Returns the path of a program that is installed or was built before.

    Raises:
        Failed: the program was not found.
    """
    path = programs.find(name)
    if path is None:
        raise Failed(f"{name} was not found", "run `make tools`")
    return str(path)


def version_of(name: str) -> str:
    """Returns a program's major and minor version, such as `1.34`, or `?`."""
    text = output_of([program(name), *programs.BY_NAME[name].version])
    found = re.search(r"v?(\d+\.\d+)", text)
    return found[1] if found else "?"


def clients_task(current: Step) -> None:
    """Finds or builds kind, helm and kubectl."""
    if missing := absent(CLIENTS):
        build(current, missing)
    else:
        current.outcome = "found"
    current.detail = " · ".join(f"{name} {version_of(name)}" for name in CLIENTS)


def control_plane_task(current: Step) -> None:
    """Finds or builds etcd and kube-apiserver, which integration tests start."""
    if missing := absent(CONTROL_PLANE):
        build(current, missing)
    else:
        current.outcome = "found"
    current.detail = " · ".join(CONTROL_PLANE)


def node_programs_task(current: Step) -> None:
    """Builds the programs of the node image."""
    if missing := unbuilt(NODE):
        build(current, missing)
    else:
        current.outcome = "built before"
    current.detail = "Kubernetes, etcd, CoreDNS"
