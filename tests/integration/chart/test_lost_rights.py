"""A namespace that is deleted loses its Roles before its shows: their finalizers go all the same."""

from collections.abc import Callable

import httpx
import pytest
from tests.support.child_process import ChildProcess
from tests.support.helm import SHOWS
from tests.support.waiting import wait_for

PROJECTS = f"/apis/onair.dev/v1alpha1/namespaces/{SHOWS}/projects"
DESTINATIONS = f"/apis/onair.dev/v1alpha1/namespaces/{SHOWS}/destinations"
COLLECTIONS = f"/apis/onair.dev/v1alpha1/namespaces/{SHOWS}/collections"
BINDINGS = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{SHOWS}/rolebindings"


def post(plane_client: httpx.Client, path: str, kind: str, name: str, spec: object) -> None:
    document = {"apiVersion": "onair.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    plane_client.post(path, json=document).raise_for_status()


@pytest.fixture
def shows(plane_client: httpx.Client, start_operator: Callable[[], ChildProcess]) -> ChildProcess:
    """Two shows that wait for a node, with a destination each, and the operator that has claimed them."""
    operator = start_operator()
    owner = {"serviceId": "studio", "serviceUserId": "anna"}
    post(plane_client, COLLECTIONS, "Collection", "sunday", {"owner": owner})
    for name in ("first", "second"):
        post(
            plane_client,
            PROJECTS,
            "Project",
            name,
            {"collectionId": "sunday", "broadcast": {"state": "Running"}},
        )
        address = {"rtmpPush": {"url": f"rtmp://media.example/live/{name}"}}
        post(plane_client, DESTINATIONS, "Destination", name, {"projectId": name, "address": address})

    def claimed() -> bool:
        pods = plane_client.get(f"/api/v1/namespaces/{SHOWS}/pods").json()["items"]
        told = [each for each in plane_client.get(DESTINATIONS).json()["items"] if each.get("status")]
        return len(pods) == len(told) == 2

    wait_for(claimed, "two pods, and both destinations have a status", 60)
    return operator


def gone(plane_client: httpx.Client, name: str) -> bool:
    return plane_client.get(f"{PROJECTS}/{name}").status_code == httpx.codes.NOT_FOUND


def test_no_finalizer_is_left_by_an_operator_that_lost_its_rights_nor_by_one_that_comes_later(
    plane_client: httpx.Client, shows: ChildProcess, start_operator: Callable[[], ChildProcess]
) -> None:
    # What the controller of namespaces does, in an order that it does not promise
    plane_client.delete(f"{BINDINGS}/onair-operator").raise_for_status()
    plane_client.delete(f"{PROJECTS}/first").raise_for_status()
    wait_for(lambda: gone(plane_client, "first"), "the first project is gone", 60)
    shows.stop()
    plane_client.delete(f"/api/v1/namespaces/{SHOWS}").raise_for_status()
    plane_client.delete(f"{PROJECTS}/second").raise_for_status()
    assert not gone(plane_client, "second")
    start_operator()
    wait_for(lambda: gone(plane_client, "second"), "the second project is gone", 60)
