"""Queries whether the nodes and pods of the local cluster are ready, as reported by running kubelets.

After a stop the API still has the state from before it: a node Ready, a pod running. So a report
counts only if it is newer than the last start of the node's container.
"""

import datetime as dt
import json

from onair_crds.shapes import Document
from onair_dev.failures import ENGINE_REMEDY
from onair_dev.settings import CLUSTER, KIND_NODE_OUT, KUBECONFIG
from onair_dev.subprocesses import output_of, required_output_of
from onair_dev.tools.cluster_tools import program

ENV = {"KUBECONFIG": str(KUBECONFIG), "KIND_NODE_OUT": str(KIND_NODE_OUT)}


def containers() -> list[dict[str, str]]:
    """Returns name, id, state and start time of each node; the control plane first.

    Raises:
        Failed: the engine does not say. That is not to be taken for a machine without a cluster.
    """
    mine = f"label=io.x-k8s.kind.cluster={CLUSTER}"
    list_names = ["docker", "ps", "--all", "--filter", mine, "--format", "{{.Names}}"]
    names = required_output_of(list_names, remedy=ENGINE_REMEDY).split()
    if not names:
        return []
    shape = '{"id":"{{.Id}}","name":"{{.Name}}","state":"{{.State.Status}}","started":"{{.State.StartedAt}}"}'
    told = required_output_of(["docker", "inspect", "--format", shape, *sorted(names)], remedy=ENGINE_REMEDY)
    return [json.loads(line) for line in told.splitlines()]


def node_names() -> list[str]:
    """Returns the names of the node containers."""
    return [node["name"].lstrip("/") for node in containers()]


def kubectl(*arguments: str, timeout_s: float = 10) -> str:
    """Returns the output of kubectl for this cluster, empty on any failure."""
    return output_of([program("kubectl"), *arguments], timeout_s=timeout_s, env=ENV)


def started_at(node: dict[str, str]) -> dt.datetime:
    """Returns when a node was last started: of one that was started while the clock was ahead, long ago.

    What it reports has the right time since, which is earlier.
    """
    started = parse_time(node["started"])
    return started if started <= dt.datetime.now(dt.UTC) else dt.datetime.min.replace(tzinfo=dt.UTC)


def nodes_report() -> bool:
    """Whether the API responds, and each node is Ready as reported by its kubelet since its last start.

    A disconnected node stays Ready in the API for a while; its Lease shows that it is stale.
    """
    template = '{range .items[*]}{.metadata.name} {.spec.renewTime}{"\\n"}{end}'
    leases = kubectl("get", "leases", "-n", "kube-node-lease", "-o", f"jsonpath={template}")
    renewed = dict(line.split() for line in leases.splitlines() if len(line.split()) == 2)
    for node in containers():
        moment = renewed.get(node["name"].lstrip("/"))
        if moment is None or parse_time(moment) < started_at(node):
            return False
    conditions = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}'
    return set(kubectl("get", "nodes", "-o", f"jsonpath={conditions}").split()) == {"True"}


def parse_time(text: str) -> dt.datetime:
    """Parses an RFC 3339 time with any number of decimals, as Docker and Kubernetes write it."""
    return dt.datetime.fromisoformat(text[:19]).replace(tzinfo=dt.UTC)


def pods_ready(namespace: str) -> int:
    """Counts the pods of a namespace; returns 0 unless all are ready since their node's last start."""
    started = {node["name"].lstrip("/"): started_at(node) for node in containers()}
    listed = kubectl("get", "pods", "-n", namespace, "-o", "json").strip()
    pods = json.loads(listed)["items"] if listed else []
    wanted = [pod for pod in pods if pod["status"].get("phase") != "Succeeded"]
    wanted = [pod for pod in wanted if "deletionTimestamp" not in pod["metadata"]]
    return len(wanted) if all(is_settled(pod, started) for pod in wanted) else 0


def is_settled(pod: Document, started: dict[str, dt.datetime]) -> bool:
    """Whether all containers of a pod are ready, and were started after the last start of its node."""
    node = started.get(pod["spec"].get("nodeName", ""))
    containers = pod["status"].get("containerStatuses", [])
    running = [container["state"].get("running") for container in containers if container["ready"]]
    return (
        node is not None
        and len(running) == len(pod["spec"]["containers"])
        and all(state and parse_time(state["startedAt"]) >= node for state in running)
    )
