"""Enforces NetworkPolicies on the nodes of a kind cluster whose own network does not, by nftables.

Kubernetes' rules: a pod that a policy of a direction selects has what the policies of that direction allow,
and replies; others have everything. A node's own connections to its pods (probes) are let through.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from kubernetes import client, config
from tests.support.cluster import LocalCluster

from onair_crds.shapes import Document

TABLE = "onair_test_policies"
INTERVAL_S = 0.5
"""A new pod is without rules for so long."""
DIRECTIONS = {"Egress": ("saddr", "to", ("forward", "input")), "Ingress": ("daddr", "from", ("forward",))}
"""Which end of a packet the pod is, the field that has the other one's peers, and where it is looked at."""
OPERATORS: dict[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


@dataclass(frozen=True)
class Pod:
    namespace: str
    node: str
    address: str
    labels: dict[str, str]


@dataclass(frozen=True)
class State:
    """What rules are made of. `namespaces` are labels by name; pods in the node's network are left out."""

    pods: list[Pod]
    namespaces: dict[str, dict[str, str]]
    policies: list[Document]


def selects(selector: Document, labels: dict[str, str]) -> bool:
    """Whether a label selector matches; an empty one matches everything."""
    equal = (selector.get("matchLabels") or {}).items()
    expressions = selector.get("matchExpressions") or []
    return all(labels.get(key) == value for key, value in equal) and all(
        OPERATORS[each["operator"]](labels.get(each["key"]), each.get("values") or []) for each in expressions
    )


def script(state: State, node: str) -> str:
    """For `nft`: replaces the rules of the pods of one node."""
    heads: dict[str, list[str]] = {
        hook: [f"type filter hook {hook} priority 0;", "ct state established,related accept"]
        for hook in ("forward", "input")
    }
    chains: dict[str, list[str]] = {}
    for number, pod in enumerate(each for each in state.pods if each.node == node):
        for direction, (end, peers, hooks) in DIRECTIONS.items():
            policies = [each for each in state.policies if _applies(each, pod, direction)]
            if not policies:
                continue
            name = f"pod{number}_{direction.lower()}"
            chains[name] = [
                f"{match} return"
                for policy in policies
                for rule in policy["spec"].get(direction.lower()) or []
                for match in _matches(state, policy["metadata"]["namespace"], rule, peers)
            ] + ["counter drop"]
            for hook in hooks:
                heads[hook].append(f"ip {end} {pod.address} jump {name}")
    bodies = ["\n".join([f"chain {name} {{", *lines, "}"]) for name, lines in {**chains, **heads}.items()]
    table = f"table inet {TABLE}"
    return "\n".join([table, f"delete {table}", f"{table} {{", *bodies, "}", ""])


def _applies(policy: Document, pod: Pod, direction: str) -> bool:
    return (
        policy["metadata"]["namespace"] == pod.namespace
        and direction in policy["spec"]["policyTypes"]
        and selects(policy["spec"]["podSelector"], pod.labels)
    )


def _matches(state: State, namespace: str, rule: Document, peers: str) -> Iterator[str]:
    """What a rule allows, each as an expression of nftables."""
    far = "daddr" if peers == "to" else "saddr"
    others = list(_others(state, namespace, rule[peers], far)) if peers in rule else [""]
    ports = [
        f"{each.get('protocol', 'TCP').lower()} dport {each['port']}"
        + (f"-{each['endPort']}" if "endPort" in each else "")
        for each in rule.get("ports") or []
    ] or ["meta l4proto {tcp, udp, sctp}"]
    yield from (f"{other} {port}".strip() for other in others for port in ports)


def _others(state: State, namespace: str, peers: Iterable[Document], far: str) -> Iterator[str]:
    for peer in peers:
        if block := peer.get("ipBlock"):
            if ip_network(block["cidr"]).version == 4:
                excepted = f" ip {far} != {{ {', '.join(block['except'])} }}" if block.get("except") else ""
                yield f"ip {far} {block['cidr']}{excepted}"
            continue
        found = [
            pod.address
            for pod in state.pods
            if (
                selects(peer["namespaceSelector"], state.namespaces[pod.namespace])
                if "namespaceSelector" in peer
                else pod.namespace == namespace
            )
            and selects(peer.get("podSelector") or {}, pod.labels)
        ]
        if found:
            yield f"ip {far} {{ {', '.join(found)} }}"


def observed(core: client.CoreV1Api, networking: client.NetworkingV1Api) -> State:
    """From the API server."""

    def items(listing: Callable[..., Any]) -> list[Any]:
        return list(json.loads(listing(_preload_content=False).data)["items"])

    pods = [
        Pod(p["metadata"]["namespace"], p["spec"]["nodeName"], p["status"]["podIP"], p["metadata"]["labels"])
        for p in items(core.list_pod_for_all_namespaces)
        if p["status"].get("podIP") and not p["spec"].get("hostNetwork")
    ]
    namespaces = {n["metadata"]["name"]: n["metadata"]["labels"] for n in items(core.list_namespace)}
    return State(pods, namespaces, items(networking.list_network_policy_for_all_namespaces))


def on_node(node: str, *command: str, text: str = "") -> None:
    done = subprocess.run(
        ["docker", "exec", "-i", node, *command], input=text, text=True, check=False, capture_output=True
    )
    assert done.returncode == 0, f"{node}: {' '.join(command)}: {done.stderr}"


class Enforcement:
    """Keeps the nodes' rules as the cluster's policies are, until it is closed."""

    def __init__(self, cluster: LocalCluster) -> None:
        config.load_kube_config(str(cluster.kubeconfig_path))
        self._core, self._networking = client.CoreV1Api(), client.NetworkingV1Api()
        nodes = cluster.list("node")
        self._ranges = {each["metadata"]["name"]: str(each["spec"]["podCIDR"]) for each in nodes}
        self._loaded: dict[str, str] = {}
        self._loading = threading.Lock()
        self._stop = threading.Event()
        self.error: Exception | None = None

    def open(self) -> None:
        """Loads the rules. Pods have their own addresses at other nodes too, as policies take for granted."""
        self._keep_addresses("--insert")
        self._load()

    def follow(self) -> None:
        try:
            while not self._stop.wait(INTERVAL_S):
                self._load()
        except Exception as error:  # noqa: BLE001 - raised by who waits
            self.error = error

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._unload()
        self._keep_addresses("--delete")

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Nothing is dropped meanwhile."""
        with self._loading:
            self._unload()
            yield
        self._load()

    def _keep_addresses(self, change: str) -> None:
        """But for what kube-proxy has marked: it needs the way back through its node."""
        unmarked = ["-m", "mark", "!", "--mark", "0x4000/0x4000"]
        for node in self._ranges:
            for pods in self._ranges.values():
                rule = ["-d", pods, *unmarked, "-j", "ACCEPT"]
                on_node(node, "iptables", "--wait", "-t", "nat", change, "POSTROUTING", *rule)

    def _load(self) -> None:
        with self._loading:
            state = observed(self._core, self._networking)
            for node in self._ranges:
                text = script(state, node)
                if self._loaded.get(node) != text:
                    on_node(node, "nft", "-f", "-", text=text)
                    self._loaded[node] = text

    def _unload(self) -> None:
        for node in self._ranges:
            on_node(node, "nft", "-f", "-", text=f"table inet {TABLE}\ndelete table inet {TABLE}\n")
        self._loaded.clear()


@contextmanager
def enforced(cluster: LocalCluster) -> Iterator[Enforcement]:
    """What the cluster's policies do not allow is dropped meanwhile, for pods that come later too."""
    enforcement = Enforcement(cluster)
    following = threading.Thread(target=enforcement.follow, daemon=True)
    with ExitStack() as stack:
        stack.callback(enforcement.close)
        enforcement.open()
        following.start()
        stack.callback(following.join)
        stack.callback(enforcement.stop)
        yield enforcement
    assert enforcement.error is None, f"policies were not followed: {enforcement.error!r}"
