"""What protects shows on air stays when the release is uninstalled, and goes when a value says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.support.control_plane import ControlPlane
from tests.support.documented_commands import ROOT, run
from tests.support.helm import CHART, NAMESPACE, RELEASE, SHOWS, HelmError, helm, install
from tests.support.show_pods import encoder_pod, refusal

POLICIES = "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies"
ADMISSION = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
NETWORK = {"onair-shows", "onair-encoder-egress", "onair-encoder"}
STATUS = ROOT / "docs/reference/status.md"
TENANTS = ("--set", "showNamespace.tenants=true")
OFF = ("--set", "networkPolicy.enabled=false,encoder.network.rules=false,showNamespace.tenants=false")


def names(client: httpx.Client, path: str) -> set[str]:
    return {each["metadata"]["name"] for each in client.get(path).raise_for_status().json()["items"]}


def protection(client: httpx.Client) -> tuple[set[str], set[str], set[str]]:
    """Names of the network policies of the show namespace, the admission policies and their bindings."""
    return (
        names(client, POLICIES.format(SHOWS)),
        names(client, ADMISSION),
        names(client, ADMISSION.removesuffix("ies") + "ybindings"),
    )


def uninstall(plane: ControlPlane) -> None:
    helm("uninstall", RELEASE, "--namespace", NAMESPACE, kubeconfig=plane.kubeconfig)


def test_shows_on_air_are_protected_without_the_release_and_another_one_adopts_that(
    installed: ControlPlane, plane_client: httpx.Client, in_force: None
) -> None:
    install(installed, CHART, *TENANTS)
    protected = protection(plane_client)[0]
    uninstall(installed)
    kept = {"onair-show-pods", "onair-tenants"}
    assert protection(plane_client) == (protected, kept, kept)
    assert protected == NETWORK
    assert names(plane_client, POLICIES.format(NAMESPACE)) == set()
    pod = encoder_pod()
    pod["spec"]["containers"][0]["securityContext"]["capabilities"]["add"] = ["NET_ADMIN"]
    assert "onair-show-pods" in refusal(plane_client, pod)

    added = "networkPolicy.encoderEgress[0].ports[0].port=7000"
    install(installed, CHART, "--reset-values", *TENANTS, "--set", added)
    policy = plane_client.get(f"{POLICIES.format(SHOWS)}/onair-encoder-egress").raise_for_status().json()
    assert policy["spec"]["egress"][-1]["ports"][0]["port"] == 7000
    assert protection(plane_client)[0] == NETWORK


@pytest.mark.parametrize("uninstalled", [False, True], ids=["upgrade", "install"])
def test_what_a_value_turns_off_is_not_kept(
    installed: ControlPlane, plane_client: httpx.Client, uninstalled: bool
) -> None:
    install(installed, CHART, "--reset-values", *TENANTS)
    if uninstalled:
        uninstall(installed)
    install(installed, CHART, "--reset-values", *OFF)
    network, admission, bindings = protection(plane_client)
    assert network == set()
    assert not {"onair-show-pods", "onair-tenants"} & (admission | bindings)
    assert "onair-show-namespace" in admission

    own = {"metadata": {"name": "onair-shows"}, "spec": {"podSelector": {}}}
    plane_client.post(POLICIES.format(SHOWS), json=own).raise_for_status()
    install(installed, CHART)
    assert protection(plane_client)[0] == {"onair-shows"}, "which is not the release's"
    plane_client.delete(f"{POLICIES.format(SHOWS)}/onair-shows").raise_for_status()


@pytest.fixture
def another(installed: ControlPlane, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Installs a release of another name, in place of the one that was uninstalled."""

    def another(*options: str) -> None:
        target = ("--namespace", NAMESPACE, *TENANTS)
        helm("install", "another", CHART, *target, *options, kubeconfig=installed.kubeconfig)

    yield another
    ended = ("uninstall", "another", "--namespace", NAMESPACE, "--ignore-not-found")
    helm(*ended, kubeconfig=installed.kubeconfig)
    delete_policies_of("another", installed, tmp_path)
    install(installed, CHART, "--reset-values", "--take-ownership")


def delete_policies_of(release: str, plane: ControlPlane, folder: Path) -> None:
    """Deletes the policies of a former release, as the reference says."""
    (command,) = re.findall(r"`(kubectl delete [^`]+ FORMER[^`]+)`", STATUS.read_text())
    run(command.replace("FORMER", release), folder, {"KUBECONFIG": str(plane.kubeconfig)})


def test_a_release_of_another_name_takes_over_what_the_former_one_kept(
    installed: ControlPlane, another: Callable[..., None], plane_client: httpx.Client, tmp_path: Path
) -> None:
    install(installed, CHART, "--reset-values", *TENANTS)
    uninstall(installed)
    with pytest.raises(HelmError, match=r'Namespace "\S+".* cannot be imported'):
        another()
    another("--take-ownership")
    network, *admission = protection(plane_client)
    assert network == NETWORK
    for found in admission:
        assert {each for each in found if each.startswith("onair-")} == {"onair-show-pods", "onair-tenants"}
        assert {"another-show-pods", "another-tenants"} <= found
    delete_policies_of(RELEASE, installed, tmp_path)
    assert not [each for found in protection(plane_client)[1:] for each in found if each.startswith("onair-")]
