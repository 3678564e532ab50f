"""The browser's seccomp profile comes to nodes, and encoder pods to nodes that have it."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
import yaml
from tests.support.chart_notes import notes
from tests.support.control_plane import ControlPlane
from tests.support.documented_commands import ROOT, run
from tests.support.helm import CHART, HelmError, install, named, render
from tests.support.node_labeller import NAMESPACE, labeller
from tests.support.waiting import wait_for

from onair_crds.contract.labels import SANDBOX_LABEL_PREFIX
from onair_crds.shapes import Document
from onair_operator.sandbox.node_label import LabelRefused
from onair_operator.sandbox.profile import installed_name

PROFILE = (CHART / "files/seccomp/chromium.json").read_bytes()
NAME = installed_name(PROFILE)
LABEL = f"{SANDBOX_LABEL_PREFIX}{NAME.removesuffix('.json')}"
MODE = "encoder.sandbox.mode"
PAGE = ROOT / "docs/reference/sandbox.md"


def settings(*options: str) -> Document:
    """What the operator is told of the sandbox."""
    config = named(render(*options), "ConfigMap", "onair-operator")["data"]["config.yaml"]
    found: Document = yaml.safe_load(config)["encoder"]["sandbox"]
    return found


def of_sandbox(*options: str) -> list[Document]:
    return [each for each in render(*options) if "sandbox" in each["metadata"]["name"]]


def test_encoder_pods_need_the_profile_that_is_installed() -> None:
    objects = render()
    daemon_set = named(objects, "DaemonSet", "onair-sandbox")
    pod = daemon_set["spec"]["template"]["spec"]
    assert settings() == {
        "mode": "seccomp",
        "localhostProfile": f"onair/{NAME}",
        "nodeLabel": LABEL,
        "runtimeClassName": "",
    }
    (label,) = pod["containers"]
    assert label["command"][-1] == LABEL
    assert label["securityContext"]["seccompProfile"] == {
        "type": "Localhost",
        "localhostProfile": f"onair/{NAME}",
    }
    assert named(objects, "ConfigMap", "onair-sandbox")["data"]["chromium.json"].encode() == PROFILE
    # Another profile, other pods
    assert NAME.startswith(daemon_set["spec"]["template"]["metadata"]["annotations"]["onair.dev/profile"])
    (folder,) = [each["hostPath"] for each in pod["volumes"] if "hostPath" in each]
    assert folder == {"path": "/var/lib/kubelet/seccomp/onair", "type": "DirectoryOrCreate"}


def test_what_is_root_has_no_credentials_and_what_has_credentials_is_not_root() -> None:
    pod = named(render(), "DaemonSet", "onair-sandbox")["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
    (install,), (label,) = pod["initContainers"], pod["containers"]
    for container in (install, label):
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"]
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert not security["allowPrivilegeEscalation"]
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    assert {each["name"] for each in install["volumeMounts"]} == {"profile", "seccomp"}
    assert {each["name"] for each in label["volumeMounts"]} == {"tmp", "account"}
    assert label["securityContext"]["runAsNonRoot"]


def test_nobody_else_is_in_its_namespace() -> None:
    objects = render()
    namespaced = [each for each in objects if each["metadata"].get("namespace") == NAMESPACE]
    assert sorted(each["kind"] for each in namespaced) == ["ConfigMap", "DaemonSet", "ServiceAccount"]
    labels = named(objects, "Namespace", NAMESPACE)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"
    other = render("--set", "encoder.sandbox.namespace=other")
    assert named(other, "DaemonSet", "onair-sandbox")["metadata"]["namespace"] == "other"


def test_its_namespace_can_be_prepared_with_pull_secrets_as_the_page_says(
    installed: ControlPlane, plane_client: httpx.Client, tmp_path: Path
) -> None:
    create, label, secret = (
        re.search(rf"`(kubectl {what} [^`]+)`", PAGE.read_text())[1].replace(NAMESPACE, "prepared")  # type: ignore[index]
        for what in ("create namespace", "label namespace", "create secret docker-registry")
    )
    secret = secret.replace("NAMESPACE", "prepared").replace("NAME", "registry")
    run(f"{create}\n{label}\n{secret}", tmp_path, {"KUBECONFIG": str(installed.kubeconfig)})
    options = ("--set", "encoder.sandbox.namespace=prepared,images.pullSecrets={registry}")
    with pytest.raises(HelmError, match="invalid ownership metadata"):
        install(installed, CHART, *options)
    install(installed, CHART, *options, "--set", "encoder.sandbox.createNamespace=false")
    try:
        path = "/apis/apps/v1/namespaces/prepared/daemonsets/onair-sandbox"
        pod = plane_client.get(path).raise_for_status().json()["spec"]["template"]["spec"]
        assert pod["imagePullSecrets"] == [{"name": "registry"}]
        plane_client.get("/api/v1/namespaces/prepared/secrets/registry").raise_for_status()
        assert plane_client.get(f"/api/v1/namespaces/{NAMESPACE}").json()["status"]["phase"] == "Active"
    finally:
        install(installed, CHART, "--reset-values")


def test_the_notes_say_where_pull_secrets_must_be(installed: ControlPlane) -> None:
    pulled = ("--set", "images.pullSecrets={one,two}")
    said = "pulled with the Secrets one, two, which must be in each of the namespaces onair-system, shows"
    assert f"{said}, onair-sandbox." in notes(installed.kubeconfig, *pulled)
    assert f"{said}." in notes(installed.kubeconfig, *pulled, "--set", "encoder.sandbox.install=false")
    assert "pulled with" not in notes(installed.kubeconfig)


def test_it_is_on_the_nodes_that_encoders_may_be_on() -> None:
    options = ("--set", "encoder.nodeSelector.pool=shows", "--set", "encoder.tolerations[0].key=shows")
    pod = named(render(*options), "DaemonSet", "onair-sandbox")["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"pool": "shows"}
    assert pod["tolerations"] == [{"key": "shows"}]


@pytest.mark.parametrize(
    "options",
    [
        ("--set", "encoder.sandbox.install=false"),
        ("--set", f"{MODE}=none"),
        ("--set", f"{MODE}=runtimeClass,encoder.sandbox.runtimeClassName=gvisor"),
    ],
)
def test_nothing_is_installed_where_it_is_not_needed_or_not_wanted(options: tuple[str, ...]) -> None:
    assert of_sandbox(*options) == []
    told = settings(*options)
    if "install" in options[1]:
        assert (told["mode"], told["nodeLabel"]) == ("seccomp", LABEL)
    else:
        assert options[1] in f"{MODE}={told['mode']},encoder.sandbox.runtimeClassName=gvisor"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (f"{MODE}=off", "at '/encoder/sandbox/mode': "),
        (f"{MODE}=runtimeClass", "encoder.sandbox.runtimeClassName: must name a RuntimeClass"),
        (
            "encoder.sandbox.runtimeClassName=gvisor",
            "encoder.sandbox.runtimeClassName: must be empty, unless",
        ),
        ("encoder.sandbox.namespace=shows", "encoder.sandbox.namespace: must not be the release's own nor"),
        (
            "encoder.sandbox.namespace=onair-system",
            "encoder.sandbox.namespace: must not be the release's own",
        ),
        ("encoder.sandbox.seccompFolder=seccomp", "at '/encoder/sandbox/seccompFolder': 'seccomp' does not"),
    ],
)
def test_a_sandbox_that_cannot_be_is_rejected_with_its_path(option: str, message: str) -> None:
    with pytest.raises(HelmError) as rejection:
        render("--set", option)
    assert message in str(rejection.value)


def test_the_notes_say_that_there_is_none(installed: ControlPlane) -> None:
    said = "encoder.sandbox.mode is none: Chromium runs without a sandbox"
    assert said in notes(installed.kubeconfig, "--set", f"{MODE}=none")
    assert "sandbox" not in notes(installed.kubeconfig)


def test_a_pod_of_it_labels_its_own_node_and_can_change_nothing_else(
    installed: ControlPlane, plane_client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node in ("node-a", "node-b"):
        metadata = {"name": node, "labels": {"zone": "a"}}
        plane_client.post("/api/v1/nodes", json={"metadata": metadata}).raise_for_status()

    def write(node: str, label: str, value: str | None, on: str = "node-a") -> None:
        labeller(installed, plane_client, node, label, tmp_path, monkeypatch, on).write(value)

    def labels(node: str) -> dict[str, str]:
        found: dict[str, str] = plane_client.get(f"/api/v1/nodes/{node}").json()["metadata"]["labels"]
        return found

    def refused() -> bool:
        try:
            write("node-b", LABEL, None)
        except LabelRefused:
            return True
        return False

    wait_for(refused, "the policy", 60)  # the API server learns of it a little later
    write("node-a", LABEL, "installed")
    assert labels("node-a") == {"zone": "a", LABEL: "installed"}
    for node, label, value in (
        ("node-b", LABEL, "installed"),
        ("node-a", "zone", "b"),
        ("node-a", "zone", None),
        ("node-a", "other", "x"),
    ):
        with pytest.raises(LabelRefused, match="HTTP 403"):
            write(node, label, value)
    assert (labels("node-a"), labels("node-b")) == ({"zone": "a", LABEL: "installed"}, {"zone": "a"})
    headers = {"Authorization": f"Bearer {(tmp_path / 'token').read_text()}"}
    headers["Content-Type"] = "application/merge-patch+json"
    with httpx.Client(base_url=installed.url, verify=False, headers=headers) as pod:  # noqa: S501
        unschedulable = pod.patch("/api/v1/nodes/node-a", json={"spec": {"unschedulable": True}})
        assert unschedulable.status_code == 403
        assert "may change the label" in unschedulable.json()["message"]
        assert pod.get("/api/v1/nodes/node-a").status_code == 403
    write("node-a", LABEL, None)
    assert labels("node-a") == {"zone": "a"}
