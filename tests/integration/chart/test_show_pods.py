"""What a real API server admits to the show namespace: encoder pods, and no other with rights."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator

import httpx
import pytest
import yaml
from tests.support.control_plane import ControlPlane
from tests.support.helm import CHART, NAMESPACE, RELEASE, SHOWS, HelmError, helm, install, named
from tests.support.show_pods import PODS, encoder_pod, refusal, why
from tests.support.waiting import wait_for

from onair_crds.shapes import Document

LEVEL = "pod-security.kubernetes.io"


def patch(plane_client: httpx.Client, change: Document, subresource: str = "") -> str:
    """Why a change of the pod is refused; empty where it is made."""
    headers = {"Content-Type": "application/strategic-merge-patch+json"}
    return why(plane_client.patch(f"{PODS}/show-run-1{subresource}", json=change, headers=headers))


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


def set_context(kind: str, **fields: object) -> Callable[[Document], None]:
    """Changes what the first container of a kind may."""

    def apply(spec: Document) -> None:
        spec[kind][0]["securityContext"] |= fields

    return apply


def take_a_port(spec: Document) -> None:
    spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]


def preload(spec: Document) -> None:
    spec["initContainers"][0]["env"].append({"name": "LD_PRELOAD", "value": "/other.so"})


def stay(spec: Document) -> None:
    hook = {"postStart": {"exec": {"command": ["sh"]}}}
    spec["initContainers"][0] |= {"restartPolicy": "Always", "lifecycle": hook}


def unconfine(spec: Document) -> None:
    spec["containers"][0]["securityContext"]["seccompProfile"] = {"type": "Unconfined"}


def take_the_node(spec: Document) -> None:
    spec["volumes"].append({"name": "node", "hostPath": {"path": "/"}})


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
        (change_network({"ports": [{"containerPort": 80, "hostPort": 80}]}), "must have NET_ADMIN alone"),
        (change_network({"volumeMounts": [{"name": "x11", "mountPath": "/x"}]}), "must have NET_ADMIN alone"),
        (preload, "must run them once, by its own variables alone"),
        (change_network({"envFrom": [{"secretRef": {"name": "a"}}]}), "by its own variables alone"),
        (change_network({"workingDir": "/tmp"}), "by its own variables alone"),
        (stay, "must run them once"),
        (set_context("initContainers", privileged=True, allowPrivilegeEscalation=True), "NET_ADMIN alone"),
        (set_context("initContainers", allowPrivilegeEscalation=True), "must have NET_ADMIN alone"),
        (set_context("initContainers", seccompProfile={"type": "Unconfined"}), "must have NET_ADMIN alone"),
        (set_context("containers", privileged=True, allowPrivilegeEscalation=True), "must not be privileged"),
        (set_context("containers", allowPrivilegeEscalation=True), "must not allow privilege escalation"),
        (take_a_port, "spec.containers: must not take ports of the node"),
        (lambda spec: spec.update(hostNetwork=True), "spec: must not share a namespace of the node"),
        (take_the_node, "spec.volumes: must not be of the node (hostPath)"),
    ],
)
def test_the_capability_is_admitted_in_one_container_alone(
    plane_client: httpx.Client, change: Callable[[Document], object], said: str
) -> None:
    pod = encoder_pod()
    assert not refusal(plane_client, pod)
    changed = copy.deepcopy(pod)
    change(changed["spec"])
    assert said in refusal(plane_client, changed), json.dumps(changed["spec"])


@pytest.fixture
def made(plane_client: httpx.Client, in_force: None) -> Iterator[Document]:
    """An encoder pod that is there."""
    yield plane_client.post(PODS, json=encoder_pod()).raise_for_status().json()
    plane_client.delete(f"{PODS}/show-run-1", params={"gracePeriodSeconds": 0}).raise_for_status()


def images(kind: str, name: str, image: str) -> Document:
    return {"spec": {kind: [{"name": name, "image": image}]}}


def test_a_pods_rights_are_not_for_another_image_later(plane_client: httpx.Client, made: Document) -> None:
    said = patch(plane_client, images("initContainers", "network", "example.org/other:1"))
    assert "spec.initContainers: must drop all capabilities" in said

    own = made["spec"]["initContainers"][0]["image"]
    assert not patch(plane_client, images("initContainers", "network", f"{own.rpartition(':')[0]}:other"))
    assert not patch(plane_client, images("containers", "browser", "example.org/other:1"))


def test_labels_finalizers_and_status_of_any_pod_may_change(
    plane_client: httpx.Client, made: Document
) -> None:
    assert not patch(plane_client, {"metadata": {"labels": {"a": "b"}, "finalizers": ["onair.dev/test"]}})
    assert not patch(plane_client, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["onair.dev/test"]}})
    assert not patch(plane_client, {"status": {"phase": "Running"}}, "/status")
    binding: Document = {"metadata": {"name": "show-run-1"}, "target": {"kind": "Node", "name": "node"}}
    assert not why(plane_client.post(f"{PODS}/show-run-1/binding", json=binding))


def test_a_pod_from_before_another_repository_is_still_let_go(
    installed: ControlPlane, plane_client: httpx.Client, made: Document
) -> None:
    assert not patch(plane_client, {"metadata": {"finalizers": ["onair.dev/test"]}})
    install(installed, CHART, "--set", "images.encoder.repository=example.org/encoder")
    roll_out(plane_client)
    install(installed, CHART)
    try:
        wait_for(
            lambda: refusal(plane_client, {**encoder_pod(), "metadata": {"name": "b"}}), "it is in force", 60
        )
        assert not patch(
            plane_client, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["onair.dev/test"]}}
        )
    finally:
        install(installed, CHART, "--reset-values")
        wait_for(
            lambda: not refusal(plane_client, {**encoder_pod(), "metadata": {"name": "b"}}), "as before", 60
        )


def roll_out(plane_client: httpx.Client) -> None:
    """Says that all of the operator's pods are of the last upgrade, as their controller would."""
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/onair-operator"
    generation = plane_client.get(path).raise_for_status().json()["metadata"]["generation"]
    status: Document = {"observedGeneration": generation, "replicas": 2, "updatedReplicas": 2}
    headers = {"Content-Type": "application/merge-patch+json"}
    plane_client.patch(f"{path}/status", json={"status": status}, headers=headers).raise_for_status()


def test_the_operator_before_an_upgrade_makes_pods_until_it_is_gone(
    installed: ControlPlane, plane_client: httpx.Client, in_force: None
) -> None:
    """Even one that is there still as the upgrade to another repository failed, and another one followed."""
    digest = f"sha256:{'0123456789abcdef' * 4}"
    repository = "images.encoder.repository"
    options = (
        (),
        ("--set", f"{repository}=registry.example.org:5000/encoder,images.encoder.digest={digest}"),
        ("--set", f"{repository}=example.org/next"),
    )
    first, second, third = (encoder_pod(*each) for each in options)
    install(installed, CHART, "--reset-values")
    roll_out(plane_client)
    try:
        install(installed, CHART, "--reset-values", *options[1])
        wait_for(lambda: not refusal(plane_client, second), "the new repository is admitted", 60)
        assert not refusal(plane_client, first)
        install(installed, CHART, "--reset-values", *options[2])
        wait_for(lambda: not refusal(plane_client, third), "the third repository is admitted", 60)
        assert [refusal(plane_client, each) for each in (first, second)] == ["", ""]
        change_network({"image": "example.org/other:1"})(second["spec"])
        assert "spec.initContainers: must drop all capabilities" in refusal(plane_client, second)

        roll_out(plane_client)
        install(installed, CHART)
        wait_for(lambda: refusal(plane_client, first), "its operator is gone", 60)
        assert not refusal(plane_client, third)
        install(installed, CHART, "--set", "images.encoder.formerRepositories={onair/encoder}")
        wait_for(lambda: not refusal(plane_client, first), "it is named by a value", 60)
    finally:
        roll_out(plane_client)
        install(installed, CHART, "--reset-values")
        wait_for(lambda: not refusal(plane_client, first), "as before", 60)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN"]}}, "must drop all capabilities"),
        ({"privileged": True, "allowPrivilegeEscalation": True}, "must not be privileged"),
        ({"allowPrivilegeEscalation": True}, "must not be privileged"),
        ({"runAsUser": 0, "runAsNonRoot": False}, "must not run as root"),
        ({"seccompProfile": {"type": "Unconfined"}}, "must have a seccomp profile"),
        ({"seLinuxOptions": {"type": "spc_t"}}, "must not choose an SELinux user or role"),
        ({"appArmorProfile": {"type": "Unconfined"}}, "must not be unconfined by AppArmor"),
    ],
)
def test_a_debugger_has_no_more_rights_than_the_rest(
    plane_client: httpx.Client, made: Document, change: Document, said: str
) -> None:
    context: Document = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, **change}
    debugger: Document = {"name": "debugger", "image": "example.org/other:1", "securityContext": context}
    refused = patch(plane_client, {"spec": {"ephemeralContainers": [debugger]}}, "/ephemeralcontainers")
    assert (f"spec.ephemeralContainers: {said}" in refused) if said else not refused, refused


@pytest.mark.usefixtures("in_force")
def test_without_rules_the_level_restricted_is_enforced(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    off = ("--set", "encoder.network.rules=false")
    with_rules = encoder_pod()
    labels = plane_client.get(f"/api/v1/namespaces/{SHOWS}").json()["metadata"]["labels"]
    assert (labels[f"{LEVEL}/enforce"], labels[f"{LEVEL}/warn"]) == ("privileged", "restricted")
    install(installed, CHART, *off)
    try:
        labels = plane_client.get(f"/api/v1/namespaces/{SHOWS}").json()["metadata"]["labels"]
        assert labels[f"{LEVEL}/enforce"] == "restricted"
        assert "initContainers" not in encoder_pod(*off)["spec"]
        assert not refusal(plane_client, encoder_pod(*off))
        wait_for(
            lambda: 'violates PodSecurity "restricted' in refusal(plane_client, with_rules),
            "the level is enforced",
            60,
        )
    finally:
        install(installed, CHART, "--reset-values")


def test_a_cluster_without_policies_gets_no_container_that_would_need_one() -> None:
    at = ("--namespace", NAMESPACE, "--kube-version", "1.29.0")
    with pytest.raises(HelmError, match=r"encoder\.network\.rules: needs Kubernetes 1\.30"):
        helm("template", RELEASE, CHART, *at)
    rendered = helm("template", RELEASE, CHART, *at, "--set", "encoder.network.rules=false")
    namespace = named([each for each in yaml.safe_load_all(rendered) if each], "Namespace", SHOWS)
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
