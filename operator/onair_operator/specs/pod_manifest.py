"""The encoder pod: what it is, whatever show it may encode. Pure.

It is complete, so that it may exist before its show: it knows its name by the downward API, and
`specs.claim` adds to it only what a running pod takes. Browser and encoder are two containers, two
users, without Kubernetes credentials; before them a third one loads the rules of what a page may reach.
"""

from __future__ import annotations

from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.contract.labels import ENCODER_LABELS, SANDBOX_INSTALLED
from onair_crds.contract.page_network import VARIABLE as PAGE_NETWORK_VARIABLE
from onair_crds.contract.page_network import PageNetwork
from onair_crds.contract.pod import (
    BROWSER_FOLDER,
    BROWSER_UID,
    CA_CERTIFICATES_FOLDER,
    CONTROL_PORT,
    CPU_REQUEST_VARIABLE,
    ENCODER_UID,
    HOST_ADDRESSES_VARIABLE,
    IDENTITY_FOLDER,
    MAX_HEIGHT_VARIABLE,
    MAX_WIDTH_VARIABLE,
    MEMORY_LIMIT_VARIABLE,
    METRICS_PORT,
    POD_NAME_VARIABLE,
    PROGRAM_FOLDER,
    PULSE_FOLDER,
    SANDBOX_VARIABLE,
    TMP_FOLDER,
    X11_FOLDER,
    SandboxMode,
)
from onair_crds.shapes import Document
from onair_operator.encoder.cost import Cost
from onair_operator.encoder.placement import node_affinity
from onair_operator.settings import EncoderSettings, RegionSettings, SandboxSettings

SHARED_GID = 2000
IDENTITY_VOLUME = "identity"
_BETWEEN_CONTAINERS = ("x11", "pulse", "control")
"""Volumes in which one container listens, and another connects."""
_STAYS = [
    {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute"}
    for taint in ("not-ready", "unreachable")
]
"""A node that the API server cannot reach may still deliver; if not, the operator replaces it."""


def unclaimed_pod(
    name: str,
    encoder: EncoderSettings,
    inside: InsideRules,
    cost: Cost,
    regions: list[RegionSettings],
    avoid: frozenset[str] = frozenset(),
) -> Document:
    """A pod of one size that may run in some regions, without a show. Its identity has its name.

    Args:
        inside: what is inside, where its page must not get to.
        cost: requests of its containers, from the size class of what it is to encode.
        regions: where it may run, the nearest first; none is anywhere.
        avoid: names of nodes that must not run it.
    """
    spec: Document = {
        "restartPolicy": "Always",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": encoder.termination_grace_period_s,
        "securityContext": {
            "runAsNonRoot": True,
            # for the sandbox: containerd 1.6 refuses a group without a user
            "runAsUser": ENCODER_UID,
            "runAsGroup": SHARED_GID,
            "fsGroup": SHARED_GID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_browser(encoder, cost), _encoder(encoder, cost)],
        "volumes": _volumes(name, encoder),
        "affinity": node_affinity(regions, avoid),
        "nodeSelector": {**encoder.node_selector, **_sandbox_label(encoder.sandbox)},
        "tolerations": [*encoder.tolerations, *_STAYS],
        "imagePullSecrets": [{"name": secret} for secret in encoder.image_pull_secrets],
        # A name server may die with the node that is being replaced, and one lookup asks no other:
        # so it ends in 5 s rather than 10, and another is begun.
        "dnsConfig": {"options": [{"name": "timeout", "value": "1"}, {"name": "attempts", "value": "5"}]},
    }
    if encoder.network.rules:
        spec["initContainers"] = [_network(encoder, inside, cost)]
    if encoder.priority_class_name:
        spec["priorityClassName"] = encoder.priority_class_name
    if encoder.sandbox.mode is SandboxMode.RUNTIME_CLASS:
        spec["runtimeClassName"] = encoder.sandbox.runtime_class_name
    metadata: Document = {"name": name, "labels": {**encoder.labels, **ENCODER_LABELS}}
    if annotations := {**encoder.pod_annotations, **_runtime_annotations(encoder.sandbox)}:
        metadata["annotations"] = annotations
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _locked_down(uid: int) -> Document:
    return {
        "runAsUser": uid,
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


def _sandbox_label(sandbox: SandboxSettings) -> dict[str, str]:
    """Where the profile is not, the browser's container could not start."""
    needed = sandbox.mode is SandboxMode.SECCOMP and sandbox.node_label
    return {sandbox.node_label: SANDBOX_INSTALLED} if needed else {}


def _seccomp_profile(sandbox: SandboxSettings) -> Document:
    """The namespaces that Chromium's sandbox is made of, in addition to what the pod's profile allows."""
    if sandbox.mode is not SandboxMode.SECCOMP:
        return {}
    return {"seccompProfile": {"type": "Localhost", "localhostProfile": sandbox.localhost_profile}}


def _runtime_annotations(sandbox: SandboxSettings) -> dict[str, str]:
    """What gVisor has to know, or each container has a volume to itself; other runtimes ignore it."""
    if sandbox.mode is not SandboxMode.RUNTIME_CLASS:
        return {}
    shared = {"type": "tmpfs", "share": "pod", "options": "rw"}
    return {
        f"dev.gvisor.spec.mount.{volume}.{field}": value
        for volume in _BETWEEN_CONTAINERS
        for field, value in shared.items()
    }


def _network(encoder: EncoderSettings, inside: InsideRules, cost: Cost) -> Document:
    network = encoder.network
    wanted = PageNetwork(
        refused=inside.refused,
        allowed_hosts=inside.allowed_hosts,
        allowed_ranges=tuple(map(str, inside.allowed_ranges)),
        refused_ranges=tuple(map(str, inside.refused_ranges)),
        name_servers=tuple(map(str, network.name_servers)),
        room_udp_port=network.room_udp_port,
        room_tcp_port=network.room_tcp_port,
    )
    return {
        "name": "network",
        "image": encoder.image,
        "imagePullPolicy": encoder.image_pull_policy,
        "args": ["network"],
        "env": [
            {"name": PAGE_NETWORK_VARIABLE, "value": wanted.text()},
            _of_the_pod(HOST_ADDRESSES_VARIABLE, "status.hostIPs"),
        ],
        "resources": _network_resources(cost),
        "securityContext": {
            **_locked_down(0),
            "runAsGroup": 0,
            "runAsNonRoot": False,
            "capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]},
        },
    }


def _network_resources(cost: Cost) -> Document:
    """All that the others ask for together: they wait for it, and it is gone before they take theirs.

    With exclusive CPUs a little less: a kubelet takes no whole ones back from a container that has ended.
    """
    millicores = cost.browser_millicores + cost.encoder_millicores
    if not cost.exclusive:
        return _resources(millicores, 32, limit_millicores=None, memory_limit_mib=128)
    return _resources(millicores - 1, 128, limit_millicores=millicores - 1, memory_limit_mib=128)


def _resources(
    millicores: int, memory_mib: int, *, limit_millicores: int | None, memory_limit_mib: int
) -> Document:
    limits = {"cpu": f"{limit_millicores}m"} if limit_millicores else {}
    return {
        "requests": {"cpu": f"{millicores}m", "memory": f"{memory_mib}Mi"},
        "limits": {**limits, "memory": f"{memory_limit_mib}Mi"},
    }


def _largest_canvas(encoder: EncoderSettings) -> list[Document]:
    return [
        {"name": MAX_WIDTH_VARIABLE, "value": str(encoder.max_width)},
        {"name": MAX_HEIGHT_VARIABLE, "value": str(encoder.max_height)},
    ]


def _of_the_pod(variable: str, field: str) -> Document:
    """A variable that the kubelet fills in from the pod itself."""
    return {"name": variable, "valueFrom": {"fieldRef": {"fieldPath": field}}}


def _of_the_container(variable: str, container: str, resource: str, divisor: str) -> Document:
    """A variable that the kubelet fills in from what a container asks for, or may take."""
    field = {"containerName": container, "resource": resource, "divisor": divisor}
    return {"name": variable, "valueFrom": {"resourceFieldRef": field}}


def _browser(encoder: EncoderSettings, cost: Cost) -> Document:
    return {
        "name": "browser",
        "image": encoder.image,
        "imagePullPolicy": encoder.image_pull_policy,
        "args": ["browser"],
        "env": [
            *_largest_canvas(encoder),
            {"name": SANDBOX_VARIABLE, "value": encoder.sandbox.mode.value},
            _of_the_container(CPU_REQUEST_VARIABLE, "browser", "requests.cpu", "1m"),
            _of_the_container(MEMORY_LIMIT_VARIABLE, "browser", "limits.memory", "1"),
        ],
        "resources": _resources(
            cost.browser_millicores,
            cost.browser_memory_mib,
            limit_millicores=cost.browser_limit_millicores,
            memory_limit_mib=cost.browser_memory_mib * cost.memory_limit_factor,
        ),
        "securityContext": {**_locked_down(BROWSER_UID), **_seccomp_profile(encoder.sandbox)},
        "volumeMounts": [
            {"name": "browser-tmp", "mountPath": TMP_FOLDER},
            {"name": "x11", "mountPath": X11_FOLDER},
            {"name": "pulse", "mountPath": PULSE_FOLDER},
            {"name": "control", "mountPath": BROWSER_FOLDER},
        ],
    }


def _encoder(encoder: EncoderSettings, cost: Cost) -> Document:
    return {
        "name": "encoder",
        "image": encoder.image,
        "imagePullPolicy": encoder.image_pull_policy,
        "args": ["encoder"],
        "env": [
            _of_the_pod(POD_NAME_VARIABLE, "metadata.name"),
            *_largest_canvas(encoder),
            _of_the_pod("ONAIR_POD_IP", "status.podIP"),
        ],
        "ports": [
            {"name": "control", "containerPort": CONTROL_PORT},
            {"name": "metrics", "containerPort": METRICS_PORT},
        ],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "metrics"}, "periodSeconds": 5},
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": "metrics"},
            "periodSeconds": 10,
            "failureThreshold": 6,
            "timeoutSeconds": 5,
        },
        "resources": _resources(
            cost.encoder_millicores,
            cost.encoder_memory_mib,
            limit_millicores=cost.encoder_limit_millicores,
            memory_limit_mib=cost.encoder_memory_mib * cost.memory_limit_factor,
        ),
        "securityContext": _locked_down(ENCODER_UID),
        "volumeMounts": [
            {"name": "encoder-tmp", "mountPath": TMP_FOLDER},
            {"name": "x11", "mountPath": X11_FOLDER},
            {"name": "pulse", "mountPath": PULSE_FOLDER},
            {"name": "control", "mountPath": BROWSER_FOLDER},
            {"name": "program", "mountPath": PROGRAM_FOLDER},
            {"name": IDENTITY_VOLUME, "mountPath": IDENTITY_FOLDER, "readOnly": True},
            *(
                {"name": volume["name"], "mountPath": CA_CERTIFICATES_FOLDER, "readOnly": True}
                for volume in _ca_certificates(encoder)
            ),
        ],
    }


def _ca_certificates(encoder: EncoderSettings) -> list[Document]:
    if not encoder.authorities_config_map:
        return []
    # Optional: without it a show runs, and its destinations say whose certificates they do not trust.
    return [{"name": "authorities", "configMap": {"name": encoder.authorities_config_map, "optional": True}}]


def _volumes(name: str, encoder: EncoderSettings) -> list[Document]:
    memory: Document = {"medium": "Memory", "sizeLimit": "16Mi"}
    return [
        {"name": "browser-tmp", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "encoder-tmp", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "x11", "emptyDir": memory},
        {"name": "pulse", "emptyDir": memory},
        {"name": "control", "emptyDir": memory},
        {"name": "program", "emptyDir": memory},
        {"name": IDENTITY_VOLUME, "secret": {"secretName": name, "defaultMode": 0o440}},
        *_ca_certificates(encoder),
    ]
