"""A ResourceQuota of the show namespace (`showNamespace.resourceQuota`), and what it says over HTTP."""

from __future__ import annotations

from pathlib import Path

import httpx
import yaml
from tests.support.control_plane import ControlPlane
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.helm import CHART, KEYS, NAMESPACE, SHOWS, install
from tests.support.waiting import wait_for

API = f"system:serviceaccount:{NAMESPACE}:onair-api"
QUOTA = f"/api/v1/namespaces/{SHOWS}/resourcequotas/onair"
COUNTED = "count/collections.onair.dev"


def test_what_the_namespace_has_no_room_for_is_refused_with_the_count(
    installed: ControlPlane, plane_client: httpx.Client, tmp_path: Path
) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump({"showNamespace": {"resourceQuota": {COUNTED: "1"}}}))
    install(installed, CHART, "-f", values)
    hard = plane_client.get(QUOTA).raise_for_status().json()["spec"]["hard"]
    assert hard == {COUNTED: "1"}
    # What the controller of quotas does
    status = {"status": {"hard": hard, "used": {COUNTED: "0"}}}
    content = {"Content-Type": "application/merge-patch+json"}
    plane_client.patch(f"{QUOTA}/status", json=status, headers=content).raise_for_status()

    key = StoredResources(plane_client, SHOWS, KEYS).add_api_key("studio")
    with FacadeThread(installed.kubeconfig_for(API), SHOWS, NAMESPACE, keys_namespace=KEYS) as facade:
        user = User(facade, wait_for(lambda: sign_in(facade, key), "the key is known"))
        user.collection()
        refused = user.call("POST", "/collection", {})
    assert (refused.status_code, refused.json()["code"]) == (429, 8)
    assert "collections 1 of 1" in refused.json()["message"]


def sign_in(facade: FacadeThread, key: str) -> str:
    path, body = "/live/v2/authentication/token", {"serviceUserId": "anna"}
    response = facade.http.post(path, headers={"X-API-Key": key}, json=body)
    return str(response.json()["accessToken"]) if response.is_success else ""
