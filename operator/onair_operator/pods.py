"""Builds the encoder pod and its identity Secret. Pure: no I/O, the same input gives the same object."""

from __future__ import annotations

from onair_crds.contract.labels import IDENTITY_TYPE, encoder_labels
from onair_crds.contract.owners import owner_reference
from onair_crds.contract.pod import CONTROL_PORT, METRICS_PORT
from onair_crds.resources.project import Project
from onair_crds.shapes import Document
from onair_operator.cost import Cost, cost_of
from onair_operator.naming import pod_name
from onair_operator.placement import node_affinity, regions_by_distance
from onair_operator.settings import EncoderSettings, OperatorSettings

BROWSER_UID = 1000
ENCODER_UID = 1001
SHARED_GID = 2000
AUTHORITIES = "/etc/onair/authorities"
"""Where the agent looks for them (onair_encoder.paths)."""


def encoder_pod(
    project: Project,
    broadcast: str,
    epoch: int,
    settings: OperatorSettings,
    avoid: frozenset[str] = frozenset(),
) -> Document:
    """The pod of one run and epoch: browser and encoder, without Kubernetes credentials.

    Args:
        avoid: names of nodes that must not run it.
    """
    name = pod_name(project.name, broadcast, epoch)
    encoder = settings.encoder
    cost = cost_of(project.spec.rendering, encoder.cost)
    spec: Document = {
        "hostname": f"encoder-{epoch}",
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
        "containers": [_browser(encoder, cost), _encoder(encoder, cost, name, epoch)],
        "volumes": _volumes(name, encoder),
        "affinity": node_affinity(regions_by_distance(project.spec.location, settings.regions), avoid),
        "nodeSelector": encoder.node_selector,
        "tolerations": encoder.tolerations,
        "imagePullSecrets": [{"name": secret} for secret in encoder.image_pull_secrets],
        # A name server may die with the node that is being replaced, and one look-up asks no other:
        # so it ends in 5 s rather than 10, and another is begun.
        "dnsConfig": {"options": [{"name": "timeout", "value": "1"}, {"name": "attempts", "value": "5"}]},
    }
    if encoder.priority_class_name:
        spec["priorityClassName"] = encoder.priority_class_name
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {**encoder.labels, **encoder_labels(project.name, broadcast, epoch)},
            "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
            "ownerReferences": [owner_reference(project.kind, project.name, project.uid, controller=True)],
        },
        "spec": spec,
    }


def identity_secret(project: Project, broadcast: str, epoch: int, data: dict[str, str]) -> Document:
    """The Secret that gives a pod its certificate and the operator's public key; `data` is PEM text."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": IDENTITY_TYPE,
        "immutable": True,
        "metadata": {
            "name": pod_name(project.name, broadcast, epoch),
            "labels": encoder_labels(project.name, broadcast, epoch),
            "ownerReferences": [owner_reference(project.kind, project.name, project.uid)],
        },
        "stringData": data,
    }


def _locked_down(uid: int) -> Document:
    return {
        "runAsUser": uid,
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


def _resources(millicores: int, memory_mib: int) -> Document:
    # No CPU limit: a burst of the page must not make frames late while the node has time to spare.
    return {
        "requests": {"cpu": f"{millicores}m", "memory": f"{memory_mib}Mi"},
        "limits": {"memory": f"{memory_mib * 3}Mi"},
    }


def _browser(encoder: EncoderSettings, cost: Cost) -> Document:
    return {
        "name": "browser",
        "image": encoder.image,
        "imagePullPolicy": encoder.image_pull_policy,
        "args": ["browser"],
        "env": [
            {"name": "ONAIR_MAX_WIDTH", "value": str(encoder.max_width)},
            {"name": "ONAIR_MAX_HEIGHT", "value": str(encoder.max_height)},
        ],
        "resources": _resources(cost.browser_millicores, cost.browser_memory_mib),
        # Chromium still runs with --no-sandbox, so nothing needs more than the runtime's own profile.
        "securityContext": _locked_down(BROWSER_UID),
        "volumeMounts": [
            {"name": "browser-tmp", "mountPath": "/tmp"},  # noqa: S108
            {"name": "x11", "mountPath": "/tmp/.X11-unix"},  # noqa: S108
            {"name": "pulse", "mountPath": "/run/onair/pulse"},
            {"name": "control", "mountPath": "/run/onair/browser"},
        ],
    }


def _encoder(encoder: EncoderSettings, cost: Cost, name: str, epoch: int) -> Document:
    return {
        "name": "encoder",
        "image": encoder.image,
        "imagePullPolicy": encoder.image_pull_policy,
        "args": ["encoder"],
        "env": [
            {"name": "ONAIR_POD_NAME", "value": name},
            {"name": "ONAIR_EPOCH", "value": str(epoch)},
            {"name": "ONAIR_MAX_WIDTH", "value": str(encoder.max_width)},
            {"name": "ONAIR_MAX_HEIGHT", "value": str(encoder.max_height)},
            {"name": "ONAIR_POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
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
        "resources": _resources(cost.encoder_millicores, cost.encoder_memory_mib),
        "securityContext": _locked_down(ENCODER_UID),
        "volumeMounts": [
            {"name": "encoder-tmp", "mountPath": "/tmp"},  # noqa: S108
            {"name": "x11", "mountPath": "/tmp/.X11-unix"},  # noqa: S108
            {"name": "pulse", "mountPath": "/run/onair/pulse"},
            {"name": "control", "mountPath": "/run/onair/browser"},
            {"name": "program", "mountPath": "/run/onair/program"},
            {"name": "identity", "mountPath": "/run/onair/identity", "readOnly": True},
            *(
                {"name": volume["name"], "mountPath": AUTHORITIES, "readOnly": True}
                for volume in _authorities(encoder)
            ),
        ],
    }


def _authorities(encoder: EncoderSettings) -> list[Document]:
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
        {"name": "identity", "secret": {"secretName": name, "defaultMode": 0o440}},
        *_authorities(encoder),
    ]
