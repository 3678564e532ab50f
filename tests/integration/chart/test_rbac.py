"""Tests the chart's RBAC: each program has the rights that it needs, and no others."""

from collections.abc import Callable

import httpx
import pytest
from tests.support.child_process import ChildProcess, wait_until
from tests.support.control_plane import ControlPlane
from tests.support.helm import NAMESPACE, ROOT, SHOWS, kubectl

from onair_crds.shapes import Document

SHOW = f"/apis/onair.dev/v1alpha1/namespaces/{SHOWS}"
OPERATOR, API = "onair-operator", "onair-api"
RIGHTS = [
    # account, verb, resource, namespace, allowed
    (OPERATOR, "watch", "projects.onair.dev", SHOWS, True),
    (OPERATOR, "patch", "destinations.onair.dev", SHOWS, True),
    (OPERATOR, "patch", "projects.onair.dev/status", SHOWS, True),
    (OPERATOR, "create", "pods", SHOWS, True),
    (OPERATOR, "delete", "secrets", SHOWS, True),
    (OPERATOR, "create", "events", SHOWS, True),
    (OPERATOR, "patch", "events", SHOWS, True),
    (OPERATOR, "watch", "nodes", None, True),
    (OPERATOR, "list", "leases.coordination.k8s.io", "kube-node-lease", True),
    (OPERATOR, "create", "leases.coordination.k8s.io", NAMESPACE, True),
    (OPERATOR, "update", "leases.coordination.k8s.io/onair-operator", NAMESPACE, True),
    (OPERATOR, "get", "secrets/onair-operator-signing", NAMESPACE, True),
    (OPERATOR, "get", "secrets/onair-ingest", NAMESPACE, True),
    # Where the show namespace's Role is deleted before its projects
    (OPERATOR, "patch", "projects.onair.dev", "default", True),
    (OPERATOR, "patch", "projects.onair.dev/status", "default", True),
    (OPERATOR, "list", "projects.onair.dev", "default", True),
    (OPERATOR, "get", f"namespaces/{SHOWS}", None, True),
    (OPERATOR, "get", "namespaces/kube-system", None, False),
    (OPERATOR, "list", "namespaces", None, False),
    (OPERATOR, "watch", "projects.onair.dev", "default", False),
    (OPERATOR, "list", "destinations.onair.dev", "default", False),
    (OPERATOR, "patch", "destinations.onair.dev", "default", False),
    (OPERATOR, "create", "projects.onair.dev", SHOWS, False),
    (OPERATOR, "delete", "projects.onair.dev", SHOWS, False),
    (OPERATOR, "create", "pods/exec", SHOWS, False),
    (OPERATOR, "create", "pods", NAMESPACE, False),
    (OPERATOR, "list", "pods", "default", False),
    (OPERATOR, "list", "secrets", NAMESPACE, False),
    (OPERATOR, "get", "secrets/onair-signing-key", NAMESPACE, False),
    (OPERATOR, "get", "services", NAMESPACE, False),
    (OPERATOR, "patch", "configmaps/onair-api", NAMESPACE, False),
    (OPERATOR, "get", "secrets", "kube-system", False),
    (OPERATOR, "update", "leases.coordination.k8s.io/onair-other", NAMESPACE, False),
    (OPERATOR, "update", "leases.coordination.k8s.io", "kube-node-lease", False),
    (OPERATOR, "patch", "nodes", None, False),
    (API, "create", "projects.onair.dev", SHOWS, True),
    (API, "delete", "destinations.onair.dev", SHOWS, True),
    (API, "watch", "secrets", SHOWS, True),
    (API, "create", "secrets", NAMESPACE, True),
    (API, "watch", "configmaps/onair-ingest-addresses", NAMESPACE, True),
    (API, "patch", "configmaps/onair-ingest-addresses", NAMESPACE, False),
    (API, "list", "configmaps", NAMESPACE, False),
    (API, "patch", "projects.onair.dev/status", SHOWS, False),
    (API, "patch", "secrets", SHOWS, False),
    (API, "list", "pods", SHOWS, False),
    (API, "delete", "secrets", NAMESPACE, False),
    (API, "list", "secrets", "kube-system", False),
    (API, "list", "nodes", None, False),
    (API, "list", "projects.onair.dev", "default", False),
]


@pytest.mark.parametrize(("account", "verb", "target", "namespace", "allowed"), RIGHTS)
def test_each_program_has_least_privilege(
    account: str,
    verb: str,
    target: str,
    namespace: str | None,
    allowed: bool,
    installed: ControlPlane,
    cluster: httpx.Client,
) -> None:
    resource, _, rest = target.partition("/")
    plural, _, group = resource.partition(".")
    subresource = rest if rest in ("status", "exec") else ""
    attributes = {
        "verb": verb,
        "group": group,
        "resource": plural,
        "subresource": subresource,
        "name": "" if subresource else rest,
        "namespace": namespace or "",
    }
    review = cluster.post(
        "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        json={
            "spec": {
                "user": f"system:serviceaccount:{NAMESPACE}:{account}",
                "groups": ["system:serviceaccounts", "system:authenticated"],
                "resourceAttributes": attributes,
            }
        },
    )
    assert review.raise_for_status().json()["status"]["allowed"] is allowed


@pytest.fixture
def operator(start_operator: Callable[[], ChildProcess]) -> ChildProcess:
    return start_operator()


def has_value(cluster: httpx.Client, path: str, *fields: str, value: str) -> bool:
    """Whether an object has this value in this nested field."""
    response = cluster.get(path)
    found: Document | str | None = response.json() if response.is_success else None
    for name in fields:
        found = found.get(name) if isinstance(found, dict) else None
    return found == value


def owners(cluster: httpx.Client, path: str) -> list[str]:
    return [owner["name"] for owner in cluster.get(path).json()["metadata"].get("ownerReferences") or []]


def test_the_operator_runs_a_show_with_only_these_rights(
    installed: ControlPlane, cluster: httpx.Client, operator: ChildProcess
) -> None:
    project, phase = f"{SHOW}/projects/sunday-1100", ("status", "broadcast", "phase")
    destination = f"{SHOW}/destinations/sunday-mediamtx"
    kubectl(installed, "apply", "-f", ROOT / "examples")

    wait_until(lambda: has_value(cluster, project, *phase, value="Waiting"), "the pod is claimed")
    connect = ("status", "connect")
    wait_until(
        lambda: has_value(cluster, destination, *connect, value="Disconnected"), "the destination's status"
    )
    (pod,) = cluster.get(f"/api/v1/namespaces/{SHOWS}/pods").json()["items"]
    assert pod["spec"]["priorityClassName"] == "onair-encoder"
    assert pod["spec"]["priority"] == 1_000_000
    wait_until(lambda: owners(cluster, destination) == ["sunday-1100"], "the project owns the destination")
    wait_until(lambda: cluster.get(f"/api/v1/namespaces/{SHOWS}/events").json()["items"] != [], "an event")

    stopped = {"spec": {"broadcast": {"state": "Stopped"}}}
    headers = {"Content-Type": "application/merge-patch+json"}
    cluster.patch(project, json=stopped, headers=headers).raise_for_status()
    wait_until(lambda: has_value(cluster, project, *phase, value="Stopped"), "the show is over")
    operator.check()
    log = operator.log.read_text()
    assert "forbidden" not in log.lower(), log
