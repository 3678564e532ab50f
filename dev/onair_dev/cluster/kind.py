"""The local kind cluster: created once, restarted after a stop, and recreated if it does not recover.

All users of a Docker daemon see its containers. Those of a running cluster are removed only if they were
created with this user's cache, where the stamp is.
"""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from onair_dev.cluster import base_images, images, registry
from onair_dev.cluster.base_images import write
from onair_dev.cluster.images import Image
from onair_dev.cluster.nodes import ENV, containers, kubectl, node_names, nodes_report, pods_ready
from onair_dev.console_progress import Step
from onair_dev.failures import ENGINE_REMEDY, Failed
from onair_dev.settings import (
    BUILD,
    CACHE,
    CLUSTER,
    KIND_NODE,
    KUBECONFIG,
    NODE_BUILT,
    NODE_PORTS,
    NODES,
    PORTS,
    REGISTRY_CONTAINER,
    UDP_NODE_PORTS,
    ports,
)
from onair_dev.subprocesses import (
    Cancelled,
    check_cancelled,
    output_of,
    pause,
    required_output_of,
    run_logged,
    succeeds,
)
from onair_dev.tools.cluster_tools import program

STAMP = CACHE / f"{CLUSTER}.cluster"
"""Identifies the cluster that was created with this cache; UNFINISHED while one is created or deleted."""
UNFINISHED = "{}"
REVIVE_S = 90
PULL_ATTEMPTS = 3
IN_USE = ("running", "paused", "restarting")
INOTIFY = {"fs.inotify.max_user_instances": 1024, "fs.inotify.max_user_watches": 524288}
PORT_TAKEN = re.compile("address already in use|port is already allocated")
CERTS_D = "/etc/containerd/certs.d"


def config() -> str:
    """Returns kind's configuration as JSON, which is also YAML."""
    mappings = [
        {"containerPort": inside, "hostPort": outside, "listenAddress": "127.0.0.1", "protocol": protocol}
        for protocol, mapped in (("TCP", NODE_PORTS), ("UDP", UDP_NODE_PORTS))
        for inside, outside in mapped.items()
    ]
    nodes: list[dict[str, object]] = [{"role": role, "labels": labels} for role, labels in NODES]
    nodes[0]["extraPortMappings"] = mappings
    patch = f'[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "{CERTS_D}"\n'
    wanted = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "nodes": nodes,
        "containerdConfigPatches": [patch],
    }
    return json.dumps(wanted, indent=1)


def fingerprint(node_image: str) -> str:
    """Hashes the configuration and the node image, to detect clusters that differ in them.

    Raises:
        Failed: the engine does not say which image it is. No cluster may be deleted for that.
    """
    inspect = ["docker", "image", "inspect", "--format", "{{.Id}}", node_image]
    identity = required_output_of(inspect, remedy=ENGINE_REMEDY)
    return hashlib.sha256(f"{config()}{identity}".encode()).hexdigest()[:12]


def delete(current: Step, why: str) -> None:
    """Removes the cluster's containers; their images and the registry stay."""
    check_cancelled(f"deleting the cluster ({why})")
    write(STAMP, UNFINISHED)
    remove = ["docker", "rm", "--force", "--volumes", *node_names()]
    current.run(f"deleting the cluster ({why})", "cluster-delete", remove)
    for file in (images.ROOMS_INSTALLED, KUBECONFIG, STAMP):
        file.unlink(missing_ok=True)


def create(current: Step, node_image: str) -> None:
    """Creates the cluster; its stamp is UNFINISHED until then, so that an incomplete cluster is detected."""
    for name, least in INOTIFY.items():
        file = Path("/proc/sys", name.replace(".", "/"))
        if os.access(file, os.W_OK) and int(file.read_text()) < least:
            file.write_text(str(least))
    wanted = CACHE / f"{CLUSTER}.kind.json"
    write(wanted, config())
    write(STAMP, UNFINISHED)
    command: list[str | Path] = [
        program("kind"),
        "create",
        "cluster",
        "--name",
        CLUSTER,
        "--image",
        node_image,
        "--retain",
    ]
    current.run(
        "creating the cluster",
        "cluster",
        [*command, "--image", node_image, "--config", wanted, "--kubeconfig", KUBECONFIG, "--wait", "180s"],
        remedy="make down, then retry; ports in use can be changed, see `make help`",
    )
    write(STAMP, json.dumps({"id": containers()[0]["id"], "fingerprint": fingerprint(node_image)}))


def stamp() -> dict[str, str] | None:
    """Returns what identifies the cluster that was created with this cache: None if there is none."""
    known: dict[str, str] | None = json.loads(STAMP.read_text()) if STAMP.exists() else None
    return known


def is_foreign(nodes: list[dict[str, str]]) -> bool:
    """Whether these nodes are a cluster in use that was not created with this cache.

    One that is stopped is in nobody's use: a cache may be lost, and the containers of its cluster left.
    """
    in_use = bool(nodes) and all(node["state"] in IN_USE for node in nodes)
    known = stamp()
    return in_use and (known is None or known.get("id", nodes[0]["id"]) != nodes[0]["id"])


def check_ours() -> None:
    """Checks that no other user's cluster has the name.

    Raises:
        Failed: one has, and is in use.
    """
    if is_foreign(containers()):
        raise Failed(
            f'a cluster "{CLUSTER}" is running that was not created with {CACHE}, but by another user',
            "another name and other ports (ONAIR_CLUSTER, ONAIR_API_PORT and more, see `make help`),"
            " or `make down`, which deletes it",
        )


def is_complete(nodes: list[dict[str, str]], node_image: str) -> bool:
    """Whether these nodes are a complete cluster with the current configuration."""
    known = stamp()
    if len(nodes) != len(NODES) or not known:
        return False
    return known["id"] == nodes[0]["id"] and known["fingerprint"] == fingerprint(node_image)


def start(current: Step, node: dict[str, str]) -> bool:
    """Starts a stopped or paused node; returns whether it could be started.

    Raises:
        Failed: another program has one of its ports; a new cluster would not get it either.
    """
    name = node["name"].lstrip("/")
    command = ["docker", "unpause" if node["state"] == "paused" else "start", name]
    try:
        current.run("restarting the nodes", f"start-{name}", command)
    except Cancelled:
        raise
    except Failed as failure:
        printed = failure.log.read_text() if failure.log else ""
        if taken := next((line for line in printed.splitlines() if PORT_TAKEN.search(line)), None):
            remedy = "end the program that has the port, then retry; or make down, and choose other ports"
            raise Failed(f"{name} does not start: {taken}", remedy, failure.log) from failure
        return False
    return True


def revive(current: Step) -> bool:
    """Starts stopped and paused nodes; returns whether all nodes report as ready within REVIVE_S."""
    if not all(start(current, node) for node in containers() if node["state"] != "running"):
        return False
    if not KUBECONFIG.exists():
        output_of(
            [program("kind"), "export", "kubeconfig", "--name", CLUSTER, "--kubeconfig", str(KUBECONFIG)]
        )
    deadline = time.monotonic() + REVIVE_S
    current.doing = "waiting for the nodes"
    while not nodes_report():
        if time.monotonic() > deadline:
            return False
        pause(0.5)
    return True


def connect(current: Step, node_image: str) -> None:
    """Restores what a restart of the nodes loses: routes between them, and the registry's configuration."""
    if node_image == NODE_BUILT:
        current.run("adding routes between the nodes", "routes", [KIND_NODE / "routes", CLUSTER], env=ENV)
    registry.ensure_registry(current)
    registry.connect_to("kind")
    folder = f"{CERTS_D}/{registry.HOST}"
    hosts = f'[host."http://{REGISTRY_CONTAINER}:5000"]'
    for node in node_names():
        script = f"mkdir -p '{folder}' && echo '{hosts}' > '{folder}/hosts.toml'"
        if not succeeds(["docker", "exec", node, "sh", "-c", script]):
            raise Failed(f"the registry cannot be configured on node {node}", "make down, then retry")


def pull_all(node: str, images: list[Image]) -> None:
    """Pulls missing images onto a node. What an attempt has fetched stays there for the next.

    Raises:
        Failed: an image could not be pulled in PULL_ATTEMPTS attempts; it names the node and the cause.
    """
    ctr = ["docker", "exec", node, "ctr", "--namespace", "k8s.io", "images"]
    present = output_of([*ctr, "ls", "-q"]).split()
    for reference in map(registry.reference_for_pods, images):
        if reference in present:
            continue
        pull = [*ctr, "pull", "--hosts-dir", CERTS_D, reference]
        doing = f"{node} could not pull {reference}"
        for attempt in range(1, PULL_ATTEMPTS + 1):
            try:
                run_logged(doing, f"pull-{node}-{attempt}", pull, remedy="retry")
                break
            except Cancelled:
                raise
            except Failed:
                if attempt == PULL_ATTEMPTS:
                    raise
                pause(attempt)


def wait_for_system(current: Step) -> None:
    """Waits for kube-proxy and DNS, which become ready last after a start."""
    current.doing = "waiting for kube-system"
    deadline = time.monotonic() + REVIVE_S
    while not pods_ready("kube-system"):
        if time.monotonic() > deadline:
            raise Failed("the pods of kube-system do not become ready", "make down, then retry")
        pause(0.5)


def cluster_task(current: Step) -> None:
    """Creates or restarts the cluster, and waits until it is ready."""
    node_image = base_images.node_image()
    check_ours()
    write(PORTS, json.dumps(ports(), indent=1))
    nodes = containers()
    current.outcome = "exists"
    if nodes and not is_complete(nodes, node_image):
        delete(current, "incomplete, or configured differently")
        nodes = []
    elif nodes and not revive(current):
        delete(current, f"it did not recover within {REVIVE_S} s")
        nodes = []
    if not nodes:
        create(current, node_image)
        current.outcome = ""
    connect(current, node_image)
    wait_for_system(current)
    version = kubectl("get", "nodes", "-o", "jsonpath={.items[0].status.nodeInfo.kubeletVersion}")
    current.detail = f'kind "{CLUSTER}" ({len(NODES)} nodes, Kubernetes {version.lstrip("v")})'


def push_task(names: Sequence[str]) -> Callable[[Step], None]:
    """Returns a task that pushes our images to the local registry."""

    def run(current: Step) -> None:
        registry.ensure_registry(current)
        for wanted in images.all_images(names):
            registry.push(current, wanted)
        current.detail = f"{registry.HOST}, {len(names)} images"

    return run


def load_task(names: Sequence[str]) -> Callable[[Step], None]:
    """Returns a task that pulls our images onto the worker nodes, so that no pod waits for one."""

    def run(current: Step) -> None:
        current.doing = "pulling the images onto the nodes"
        workers = [name for name in node_names() if "control-plane" not in name]
        wanted = images.all_images(names)
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: pull_all(node, wanted), workers))
        current.detail = f"onto {len(workers)} nodes"

    return run


def down(current: Step) -> None:
    """Removes the cluster, and the registry unless other clusters use it; images, tools and its data stay.

    Raises:
        Failed: the engine does not respond.
    """
    if containers():
        delete(current, "requested")
        current.detail = f'kind "{CLUSTER}" deleted; images and tools stay'
    else:
        STAMP.unlink(missing_ok=True)
        current.detail = f'no cluster "{CLUSTER}"'
    PORTS.unlink(missing_ok=True)
    others = ["docker", "ps", "--all", "--quiet", "--filter", "label=io.x-k8s.kind.cluster"]
    # Nodes of a cluster with another name pull from it, too
    if not required_output_of(others, remedy=ENGINE_REMEDY).strip():
        output_of(["docker", "rm", "--force", REGISTRY_CONTAINER])


def clean(current: Step) -> None:
    """Removes the cluster, our images, the registry's data and the build folder.

    Raises:
        Failed: the engine does not respond; nothing is removed then.
    """
    down(current)
    images.remove_all()
    output_of(["docker", "volume", "rm", registry.VOLUME])
    shutil.rmtree(BUILD, ignore_errors=True)
