"""What a real API server admits to the show namespace: encoder pods, and no other with rights."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import httpx
import pytest
import yaml
from tests.support.child_process import wait_until
from tests.support.control_plane import ControlPlane
from tests.support.helm import CHART, SHOWS, install, render

from onair_crds.shapes import Document
from onair_operator.encoder.cost import Cost
from onair_operator.settings import OperatorSettings
from onair_operator.specs.pod import unclaimed_pod

PODS = f"/api/v1/namespaces/{SHOWS}/pods"
LEVEL = "pod-security.kubernetes.io"


def encoder_pod(*options: str) -> Document:
    """As the operator makes it by the chart's settings."""
    (config,) = [
        yaml.safe_load(each["data"]["config.yaml"])
        for each in render(*options)
        if (each["kind"], each["metadata"]["name"]) == ("ConfigMap", "onair-operator")
    ]
    settings = OperatorSettings.model_validate(config)
    settings.encoder.priority_class_name = None  # its controller does not run here
    return unclaimed_pod("show-run-1", settings.encoder, settings.inside, Cost(400, 300, 640, 256), [])


def refusal(cluster: httpx.Client, pod: Document) -> str:
    """Why a pod is refused; empty where it is admitted."""
    response = cluster.post(PODS, params={"dryRun": "All"}, json=pod)
    return "" if response.is_success else str(response.json()["message"])


def change_network(change: Document) -> Callable[[Document], None]:
    def apply(spec: Document) -> None:
        spec["initContainers"][0].update(change)

    return apply


def grant(spec: Document) -> None:
    spec["containers"][0]["securityContext"]["capabilities"]["add"] = ["NET_ADMIN"]


def become_root(spec: Document) -> None:
    spec["containers"][1]["securityContext"] |= {"runAsUser": 0, "runAsNonRoot": False}


def grant_more(spec: Document) -> None:
    spec["initContainers"][0]["securityContext"]["capabilities"]["add"].append("SYS_ADMIN")


def unconfine(spec: Document) -> None:
    spec["containers"][0]["securityContext"]["seccompProfile"] = {"type": "Unconfined"}


def take_the_node(spec: Document) -> None:
    spec["volumes"].append({"name": "node", "hostPath": {"path": "/"}})


@pytest.fixture
def in_force(installed: ControlPlane, cluster: httpx.Client) -> None:
    """The policy acts some moments after it was installed."""
    pod = encoder_pod()
    grant(pod["spec"])
    wait_until(lambda: refusal(cluster, pod), "the policy is in force")


@pytest.mark.usefixtures("in_force")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (grant, "spec.containers: must drop all capabilities"),
        (become_root, "spec.containers: must not run as root"),
        (unconfine, "spec.containers: must have a seccomp profile"),
        (grant_more, "must have NET_ADMIN alone"),
        (change_network({"name": "other"}), "spec.initContainers: must drop all capabilities"),
        (change_network({"image": "example.org/other:1"}), "spec.initContainers: must drop all capabilities"),
        (change_network({"args": ["browser"]}), "spec.initContainers: must drop all capabilities"),
        (change_network({"command": ["sh"]}), "spec.initContainers: must drop all capabilities"),
        (lambda spec: spec.update(hostNetwork=True), "spec: must not share a namespace of the node"),
        (take_the_node, "spec.volumes: must not be of the node (hostPath)"),
    ],
)
def test_the_capability_is_admitted_in_one_container_alone(
    cluster: httpx.Client, change: Callable[[Document], object], said: str
) -> None:
    pod = encoder_pod()
    assert not refusal(cluster, pod)
    changed = copy.deepcopy(pod)
    change(changed["spec"])
    assert said in refusal(cluster, changed), json.dumps(changed["spec"])


@pytest.mark.usefixtures("in_force")
def test_without_rules_the_level_restricted_is_enforced(
    installed: ControlPlane, cluster: httpx.Client
) -> None:
    off = ("--set", "encoder.network.rules=false")
    with_rules = encoder_pod()
    labels = cluster.get(f"/api/v1/namespaces/{SHOWS}").json()["metadata"]["labels"]
    assert (labels[f"{LEVEL}/enforce"], labels[f"{LEVEL}/warn"]) == ("privileged", "restricted")
    install(installed, CHART, *off)
    try:
        labels = cluster.get(f"/api/v1/namespaces/{SHOWS}").json()["metadata"]["labels"]
        assert labels[f"{LEVEL}/enforce"] == "restricted"
        assert "initContainers" not in encoder_pod(*off)["spec"]
        assert not refusal(cluster, encoder_pod(*off))
        wait_until(
            lambda: 'violates PodSecurity "restricted' in refusal(cluster, with_rules),
            "the level is enforced",
        )
    finally:
        install(installed, CHART, "--reset-values")
