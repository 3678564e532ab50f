"""Tests the chart on a real API server: install, upgrade, uninstall, and the examples.

No pods run there, so Helm does not wait; the e2e tests cover running pods.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from pydantic import JsonValue
from tests.support.control_plane import ControlPlane
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import (
    CHART,
    KEYS,
    NAMESPACE,
    RELEASE,
    ROOT,
    SHOWS,
    HelmError,
    copy_of_chart,
    helm,
    install,
    kubectl,
    render,
)
from tests.support.waiting import wait_for

from onair_crds.shapes import Document

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SHOW = "apiVersion: onair.dev/v1alpha1\nkind: Project\nmetadata: {name: a}\nspec: {collectionId: c}\n"
PROJECTS = f"/apis/onair.dev/v1alpha1/namespaces/{SHOWS}/projects"


def secret(plane_client: httpx.Client, name: str, namespace: str = NAMESPACE) -> dict[str, str]:
    path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
    data = plane_client.get(path).raise_for_status().json()["data"]
    return {key: base64.b64decode(value).decode() for key, value in data.items()}


def put_on_air(plane_client: httpx.Client, name: str) -> str:
    project: Document = {
        "apiVersion": "onair.dev/v1alpha1",
        "kind": "Project",
        "metadata": {"name": name},
        "spec": {"collectionId": "c", "broadcast": {"state": "Running"}},
    }
    response = plane_client.post(PROJECTS, json=project)
    return str(response.raise_for_status().json()["metadata"]["uid"])


def uids(plane_client: httpx.Client) -> set[str]:
    """Returns the uids of all projects. While a CRD changes, the API server responds 429 for a second."""
    wait_for(lambda: plane_client.get(PROJECTS).is_success, "projects listed", 60)
    return {each["metadata"]["uid"] for each in plane_client.get(PROJECTS).json()["items"]}


def test_the_notes_show_the_next_commands(installed: ControlPlane) -> None:
    notes = helm("get", "notes", RELEASE, "--namespace", NAMESPACE, kubeconfig=installed.kubeconfig)
    assert "kubectl apply -f examples/" in notes
    assert "port-forward -n onair-system service/onair-api 8080:80" in notes


def test_the_demo_key_matches_its_hash_and_survives_an_upgrade(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    key = secret(plane_client, "onair-demo-api-key")["apiKey"]
    assert len(key) == 40
    install(installed, CHART, "--set", "api.replicas=3")
    assert secret(plane_client, "onair-demo-api-key")["apiKey"] == key
    verifier = secret(plane_client, "onair-api-key-demo", KEYS)
    assert verifier == {"serviceId": "demo", "hash": hashlib.sha256(key.encode()).hexdigest()}


def test_the_demo_key_goes_on_where_its_readable_secret_was_deleted(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    verifier = secret(plane_client, "onair-api-key-demo", KEYS)
    readable = f"/api/v1/namespaces/{NAMESPACE}/secrets/onair-demo-api-key"
    plane_client.delete(readable).raise_for_status()
    for service in ("demo", "another"):
        install(installed, CHART, "--set", f"demo.apiKey.serviceId={service}")
        assert plane_client.get(readable).status_code == 404
        notes = helm("get", "notes", RELEASE, "--namespace", NAMESPACE, kubeconfig=installed.kubeconfig)
        assert "onair-demo-api-key" not in notes
        assert "--type onair.dev/api-key" in notes, "how to make another"
        assert secret(plane_client, "onair-api-key-demo", KEYS) == {**verifier, "serviceId": service}
    kubectl(installed, "delete", "secret", "-n", KEYS, "onair-api-key-demo")
    install(installed, CHART, "--reset-values")
    renewed = secret(plane_client, "onair-demo-api-key")["apiKey"]
    renewed_verifier = secret(plane_client, "onair-api-key-demo", KEYS)
    assert renewed_verifier == {"serviceId": "demo", "hash": hashlib.sha256(renewed.encode()).hexdigest()}
    assert renewed_verifier["hash"] != verifier["hash"]


def test_another_priority_needs_a_class_of_another_name(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    value = ("--set", "encoder.priorityClass.value=5000")
    with pytest.raises(HelmError, match=r"value: cannot be changed once .*; give \S+\.name another name"):
        install(installed, CHART, "--reset-values", *value)
    install(installed, CHART, "--reset-values", *value, "--set", "encoder.priorityClass.name=shows-first")
    classes = plane_client.get("/apis/scheduling.k8s.io/v1/priorityclasses").raise_for_status().json()
    values = {each["metadata"]["name"]: each["value"] for each in classes["items"]}
    assert values["shows-first"] == 5000
    assert "onair-encoder" not in values
    install(installed, CHART, "--reset-values")


@pytest.mark.parametrize("values", sorted((ROOT / "examples/values").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_api_server_accepts_every_object_without_a_warning(values: Path, installed: ControlPlane) -> None:
    level = "pod-security.kubernetes.io/warn=restricted"
    kubectl(installed, "label", "namespace", NAMESPACE, level, "--overwrite")
    # The kinds of the Prometheus operator are not installed here
    ours = [each for each in render("-f", values) if "monitoring.coreos.com" not in each["apiVersion"]]
    namespaces = yaml.safe_dump_all([each for each in ours if each["kind"] == "Namespace"])
    kubectl(installed, "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=namespaces)
    objects = yaml.safe_dump_all(ours)
    output = kubectl(
        installed,
        *("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"),
        stdin=objects,
    )
    rejected = [
        line for line in output.splitlines() if not line.endswith("serverside-applied (server dry run)")
    ]
    assert not rejected


def test_the_api_server_accepts_the_examples_unchanged(installed: ControlPlane) -> None:
    output = kubectl(installed, "apply", "--dry-run=server", "--validate=strict", "-f", ROOT / "examples")
    assert [line.removesuffix(" created (server dry run)") for line in output.splitlines()] == [
        "project.onair.dev/sunday-stage",
        "destination.onair.dev/sunday-stage",
        "layout.onair.dev/sunday-camera",
        "layout.onair.dev/sunday-talk",
        "layout.onair.dev/sunday-end",
        "collection.onair.dev/sunday-service",
        "project.onair.dev/sunday-1100",
        "secret/sunday-key",
        "destination.onair.dev/sunday-mediamtx",
        "source.onair.dev/camera-1",
    ]


def test_a_show_in_another_namespace_is_refused_with_the_right_one(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    create = ("create", "--dry-run=server", "-n", "default", "-f", "-")

    def response() -> str:
        return kubectl(installed, *create, stdin=SHOW)

    wait_for(lambda: "created" not in response(), "the policy is in force", 60)
    assert "OnAir acts on namespace shows alone, and would ignore this one: create it there (-n shows)" in (
        response()
    )
    install(installed, CHART, "--set", "showNamespace.exclusive=false")
    wait_for(lambda: "created" in response(), "the policy is gone", 60)
    install(installed, CHART, "--reset-values")


@pytest.fixture
def second(installed: ControlPlane) -> Iterator[Callable[..., str]]:
    """Installs a second release, with values that it needs in any case and with those that are given."""
    own = [f"{each}Namespace.name=studio-{each}" for each in ("show", "keys")]
    values = ",".join([*own, "encoder.sandbox.namespace=studio-sandbox", "crds.enabled=false"])
    target = ("--namespace", "studio-system")

    def second(*options: str) -> str:
        every = [word for each in (values, *options) for word in ("--set", each)]
        command = ["upgrade", "--install", "studio", *target, "--create-namespace", *every]
        return helm(*command, CHART, kubeconfig=installed.kubeconfig)

    yield second
    helm("uninstall", "studio", *target, "--ignore-not-found", kubeconfig=installed.kubeconfig)
    install(installed, CHART, "--reset-values")


def test_a_second_release_has_to_know_of_the_first(
    installed: ControlPlane, second: Callable[..., str], plane_client: httpx.Client
) -> None:
    shared = ("showNamespace.exclusive=false", "encoder.priorityClass.name=studio-encoder")
    install(installed, CHART, "--reset-values")
    with pytest.raises(HelmError, match="exclusive: is true in release onair"):
        second(*shared)
    install(installed, CHART, "--set", "showNamespace.exclusive=false")
    with pytest.raises(HelmError, match="exclusive: must be false, as release onair"):
        second(*shared[1:])

    borrowed = "The priority class onair-encoder is of release onair"
    assert borrowed in second(shared[0], "encoder.priorityClass.create=false")
    assert borrowed not in second(*shared)
    show = yaml.safe_load(SHOW)
    studio = PROJECTS.replace(SHOWS, "studio-show")
    wait_for(lambda: plane_client.post(studio, json=show).is_success, "shows of the second are accepted", 60)
    with pytest.raises(HelmError, match="exclusive: must be false, as release studio"):
        install(installed, CHART, "--reset-values")


def with_metadata(metadata: JsonValue, name: str = "large") -> Document:
    return {
        "apiVersion": "onair.dev/v1alpha1",
        "kind": "Project",
        "metadata": {"name": name},
        "spec": {"collectionId": "c", "metadata": metadata},
    }


LARGE: list[JsonValue] = [
    "x" * 700_000,
    {"notes": "x" * 700_000},
    {"notes": {"text": "x" * 700_000}},
    {"notes": ["x" * 350_000, "x" * 350_000]},
    list(range(300_000)),
    {"one": {"two": list(range(300_000))}},
]
SMALL: list[JsonValue] = [
    None,
    7,
    "x" * 262_000,
    {"notes": "x" * 260_000, "list": [1, {"a": None}, []], "flag": True},
    [["a"], {"b": ["c"]}],
]


def test_metadata_that_http_refuses_is_refused_to_kubectl_too(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    def response(metadata: JsonValue) -> httpx.Response:
        return plane_client.post(PROJECTS, params={"dryRun": "All"}, json=with_metadata(metadata))

    wait_for(lambda: response(LARGE[0]).is_error, "the policy is in force", 60)
    for metadata in LARGE:
        refused = response(metadata)
        assert refused.status_code == 422, str(metadata)[:40]
        assert "spec.metadata: must be at most 262144 bytes as JSON" in refused.text
    for metadata in SMALL:
        assert response(metadata).is_success, response(metadata).text


def test_what_was_large_before_the_limit_can_still_be_changed_and_deleted(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    install(installed, CHART, "--set", "api.limits.metadataBytes=1048576")
    large = with_metadata("x" * 700_000)
    wait_for(lambda: plane_client.post(PROJECTS, json=large).is_success, "the higher limit is in force", 60)
    install(installed, CHART, "--reset-values")
    dry = {"dryRun": "All"}
    another = with_metadata("x" * 700_000, "another")
    wait_for(
        lambda: plane_client.post(PROJECTS, params=dry, json=another).is_error, "the limit is in force", 60
    )
    headers = {"Content-Type": "application/merge-patch+json"}
    patch = {"metadata": {"finalizers": ["onair.dev/broadcast"]}, "spec": {"maxDuration": 1000}}
    plane_client.patch(f"{PROJECTS}/large", json=patch, headers=headers).raise_for_status()
    done: Document = {"metadata": {"finalizers": []}}
    plane_client.delete(f"{PROJECTS}/large").raise_for_status()
    plane_client.patch(f"{PROJECTS}/large", json=done, headers=headers).raise_for_status()
    assert plane_client.get(f"{PROJECTS}/large").status_code == 404


def test_an_upgrade_updates_a_crd_and_leaves_shows_unchanged(
    installed: ControlPlane, plane_client: httpx.Client, tmp_path: Path
) -> None:
    uid = put_on_air(plane_client, "over-an-upgrade")
    chart = copy_of_chart(tmp_path)
    definition = chart / "files/crds/projects.yaml"
    crd = yaml.safe_load(definition.read_text())
    properties = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    properties["novelty"] = {"type": "string", "maxLength": 10}
    definition.write_text(yaml.safe_dump(crd))
    install(installed, chart)
    patch = {"spec": {"novelty": "yes"}}
    headers = {"Content-Type": "application/merge-patch+json"}

    def is_kept() -> bool:
        response = plane_client.patch(
            f"{PROJECTS}/over-an-upgrade", content=json.dumps(patch), headers=headers
        )
        return bool(response.raise_for_status().json()["spec"].get("novelty") == "yes")

    wait_for(is_kept, "the new field is served", 60)
    project = plane_client.get(f"{PROJECTS}/over-an-upgrade").json()
    assert project["metadata"]["uid"] == uid
    assert project["spec"]["broadcast"]["state"] == "Running"


def test_an_uninstall_keeps_shows_and_a_new_install_adopts_them(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    uid = put_on_air(plane_client, f"stays-{secrets.token_hex(2)}")
    helm("uninstall", RELEASE, "--namespace", NAMESPACE, kubeconfig=installed.kubeconfig)
    assert plane_client.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments").json()["items"] == []
    assert plane_client.get(f"/api/v1/namespaces/{SHOWS}").json()["status"]["phase"] == "Active"
    assert uid in uids(plane_client)

    install(installed, CHART, "--reset-values")
    assert uid in uids(plane_client)


def test_an_uninstall_removes_the_crds_if_configured(
    installed: ControlPlane, plane_client: httpx.Client
) -> None:
    def crds() -> list[str]:
        items = plane_client.get(CRDS).json()["items"]
        return [each["metadata"]["name"] for each in items if each["spec"]["group"] == "onair.dev"]

    install(installed, CHART, "--set", "crds.keep=false")
    # A CRD deleted while its storage initializes is finalized only at the API server's next resync: minutes.
    wait_for(lambda: all(is_served(plane_client, name) for name in crds()), "CRDs served", 60)
    helm("uninstall", RELEASE, "--namespace", NAMESPACE, kubeconfig=installed.kubeconfig)

    # Deleting the CRDs also deletes thousands of objects left behind by other tests of the run.
    wait_for(lambda: not crds(), "CRDs deleted", 240)
    assert plane_client.get(f"/api/v1/namespaces/{SHOWS}").json()["status"]["phase"] == "Active"
