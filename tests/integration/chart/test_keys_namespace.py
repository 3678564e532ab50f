"""An installation whose keys move to another namespace, as tokens.md says."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from tests.support.control_plane import ControlPlane
from tests.support.documented_commands import ROOT, run
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import CHART, KEYS, NAMESPACE, SHOWS, HelmError, install
from tests.support.waiting import wait_for

from onair_crds.contract.labels import API_KEY_TYPE, SIGNING_KEY_TYPE

API = f"system:serviceaccount:{NAMESPACE}:onair-api"
TOKEN = "/live/v2/authentication/token"
PAGE = ROOT / "docs/reference/tokens.md"


def sign_in(facade: FacadeThread, key: str) -> httpx.Response:
    return facade.http.post(TOKEN, headers={"X-API-Key": key}, json={"serviceUserId": "anna"})


@pytest.fixture
def former(own_plane: ControlPlane, plane_client: httpx.Client) -> ControlPlane:
    """An installation whose keys are in the release's own namespace, as they once were."""
    install(own_plane, CHART, "--set", "keysNamespace.name=")
    wait_for(lambda: is_served(plane_client, "projects.onair.dev"), "projects served", 60)
    return own_plane


def test_an_upgrade_leaves_no_key_behind_and_copied_ones_go_on(
    former: ControlPlane, plane_client: httpx.Client, tmp_path: Path
) -> None:
    own = StoredResources(plane_client, SHOWS, NAMESPACE).add_api_key("studio")
    with FacadeThread(former.kubeconfig_for(API), SHOWS, NAMESPACE) as facade:
        wait_for(lambda: sign_in(facade, own).is_success, "the key is known")
        issuer = User(facade, sign_in(facade, own).json()["accessToken"])
        issuer.collection()

    with pytest.raises(HelmError, match=f"copy them to {KEYS} first"):
        install(former, CHART, "--reset-values")

    create, copy = (each for each in re.findall(r"`(kubectl [^`]+)`", PAGE.read_text()) if KEYS in each)
    commands = [create, *(copy.replace("TYPE", each) for each in ("api-key", "signing-key"))]
    run("\n".join(["set -euo pipefail", *commands]), tmp_path, {"KUBECONFIG": str(former.kubeconfig)})
    install(former, CHART, "--reset-values", "--set", "keysNamespace.create=false")

    with FacadeThread(former.kubeconfig_for(API), SHOWS, NAMESPACE, keys_namespace=KEYS) as facade:
        wait_for(lambda: sign_in(facade, own).is_success, "the key goes on")
        User(facade, sign_in(facade, own).json()["accessToken"]).collection()
        assert User(facade, issuer.token).call("GET", "/collection").status_code == 401
    found = {each["metadata"]["name"] for each in StoredResources(plane_client, SHOWS, KEYS).secrets(KEYS)}
    assert {"onair-api-key-demo", "onair-signing-key"} <= found


def test_an_upgrade_leaves_no_kind_of_key_behind_wherever_keys_were(
    own_plane: ControlPlane, plane_client: httpx.Client
) -> None:
    for name in (KEYS, "elsewhere"):
        plane_client.post("/api/v1/namespaces", json={"metadata": {"name": name}})
    install(own_plane, CHART, "--reset-values", "--set", "keysNamespace.create=false")
    resources = StoredResources(plane_client, SHOWS, NAMESPACE)
    resources.add_secret(KEYS, "rotated", SIGNING_KEY_TYPE, {"private.pem": "of no use here"})
    plane_client.delete(f"/api/v1/namespaces/{KEYS}/secrets/onair-signing-key")
    elsewhere = ("--set", "keysNamespace.create=false,keysNamespace.name=elsewhere")

    def refused() -> str:
        with pytest.raises(HelmError) as rejection:
            install(own_plane, CHART, *elsewhere)
        message = str(rejection.value)
        assert f"are in namespace {KEYS}" in message
        assert f'keysNamespace.name="{KEYS}"' in message
        (kind,) = re.findall(r"those of type (\S+) would be lost: copy them to elsewhere", message)
        return str(kind)

    assert refused() in {API_KEY_TYPE, SIGNING_KEY_TYPE}
    resources.add_secret("elsewhere", "rotated", SIGNING_KEY_TYPE, {"private.pem": "of no use here"})
    assert refused() == API_KEY_TYPE
    resources.add_secret("elsewhere", "studio", API_KEY_TYPE, {"serviceId": "studio"})
    install(own_plane, CHART, *elsewhere)
    install(own_plane, CHART, *elsewhere, "--set", "api.replicas=1")
