"""Tests the chart's RBAC: each program has the rights that it needs, and no others.

That nothing has more is read from the API server's audit log, while operator and facade do all that they do.
"""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.support.audited_installation import (
    API_USER,
    EVERYTHING,
    EXISTING,
    EXISTING_ROOMS,
    RBAC,
    SMALLEST,
    AuditedInstallation,
    let_everything_happen,
    place_node,
    publish_another_key,
    refer_to,
    take_names,
    use_a_new_replica,
    use_every_operation,
    write_what_the_operator_writes,
)
from tests.support.child_process import ChildProcess
from tests.support.control_plane import ControlPlane
from tests.support.facade import FacadeThread
from tests.support.helm import CHART, KEYS, NAMESPACE, SHOWS, install
from tests.support.node_labeller import labeller

from onair_api.settings import RoomSettings
from onair_operator.sandbox.profile import installed_name

OPERATOR, API = "onair-operator", "onair-api"
SANDBOX_LABEL = "sandbox.onair.dev/" + installed_name(
    (CHART / "files/seccomp/chromium.json").read_bytes()
).removesuffix(".json")
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
    (OPERATOR, "patch", "collections.onair.dev", SHOWS, False),
    (OPERATOR, "get", "layouts.onair.dev", SHOWS, False),
    (OPERATOR, "get", "nodes", None, False),
    (OPERATOR, "create", "projects.onair.dev", SHOWS, False),
    (OPERATOR, "delete", "projects.onair.dev", SHOWS, False),
    (OPERATOR, "create", "pods/exec", SHOWS, False),
    (OPERATOR, "create", "pods", NAMESPACE, False),
    (OPERATOR, "list", "pods", "default", False),
    (OPERATOR, "list", "secrets", NAMESPACE, False),
    (OPERATOR, "get", "secrets/onair-signing-key", KEYS, False),
    (OPERATOR, "list", "secrets", KEYS, False),
    (OPERATOR, "get", "services", NAMESPACE, False),
    (OPERATOR, "patch", "configmaps/onair-api", NAMESPACE, False),
    (OPERATOR, "get", "secrets", "kube-system", False),
    (OPERATOR, "update", "leases.coordination.k8s.io/onair-other", NAMESPACE, False),
    (OPERATOR, "update", "leases.coordination.k8s.io", "kube-node-lease", False),
    (OPERATOR, "patch", "nodes", None, False),
    (API, "create", "projects.onair.dev", SHOWS, True),
    (API, "delete", "destinations.onair.dev", SHOWS, True),
    (API, "watch", "secrets", SHOWS, True),
    (API, "create", "secrets", KEYS, True),
    (API, "watch", "secrets", KEYS, True),
    (API, "create", "secrets", NAMESPACE, False),
    (API, "list", "secrets", NAMESPACE, False),
    (API, "get", "secrets/onair-operator-signing", NAMESPACE, False),
    (API, "watch", "configmaps/onair-ingest-addresses", NAMESPACE, True),
    (API, "patch", "configmaps/onair-ingest-addresses", NAMESPACE, False),
    (API, "get", "configmaps/onair-ingest-addresses", NAMESPACE, False),
    (API, "list", "configmaps", NAMESPACE, False),
    (API, "patch", "projects.onair.dev/status", SHOWS, False),
    (API, "patch", "secrets", SHOWS, False),
    (API, "list", "pods", SHOWS, False),
    (API, "delete", "secrets", KEYS, False),
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
    plane_client: httpx.Client,
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
    review = plane_client.post(
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


WITHOUT_RIGHTS = {("namespaces", "get")}
"""Asked only where the operator has lost its rights in the show namespace."""
AT_ITS_END = {("events", "patch")}
"""Repeated Events are counted up after ten seconds, or as the operator ends."""
LATER_IN_THE_SHOW = {("pods", "delete"), ("secrets", "delete"), ("configmaps", "patch")}
BINDING = f"{RBAC}/namespaces/{SHOWS}/rolebindings/onair-operator"


@pytest.fixture(scope="module")
def installation(installed: ControlPlane, plane_client: httpx.Client) -> AuditedInstallation:
    install(installed, CHART, *EVERYTHING)
    installation = AuditedInstallation(installed, plane_client)
    take_names(installation)
    return installation


def test_no_right_is_to_all_kinds_or_all_verbs(installation: AuditedInstallation) -> None:
    assert [each for each in installation.rights if "*" in (each.group, each.resource, each.verb)] == []


def test_every_right_is_used_and_none_is_missing(
    installation: AuditedInstallation,
    installed_facade: FacadeThread,
    start_operator: Callable[[], ChildProcess],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_every_operation(installed_facade, installation.resources)
    use_a_new_replica(installation, installed_facade)
    publish_another_key(installation)
    let_everything_happen(installation)
    with monkeypatch.context() as variables:
        account = tmp_path / "account"
        labeller(installation.plane, installation.admin, "node", SANDBOX_LABEL, account, variables).write(
            "installed"
        )
    operator = start_operator()
    numbers = iter(range(1000))

    def read_again() -> set[tuple[str, str]]:
        write_what_the_operator_writes(installation, next(numbers))
        return LATER_IN_THE_SHOW | AT_ITS_END | WITHOUT_RIGHTS

    installation.used_but(read_again)
    (pod,) = (each for each in installation.pods() if each["metadata"]["name"].startswith("sunday-1100"))
    assert (pod["spec"]["priorityClassName"], pod["spec"]["priority"]) == ("onair-encoder", 1_000_000)
    installation.resources.patch("projects", "sunday-1100", {"spec": {"broadcast": {"state": "Stopped"}}})
    place_node(installation, "192.0.2.2")
    installation.used_but(lambda: AT_ITS_END | WITHOUT_RIGHTS)
    for _ in range(2):
        refer_to(installation, "no-such", "SecretNotFound")
        refer_to(installation, "sunday-key", "NotRunning")
    operator.stop()
    assert installation.refused() == []

    installation.admin.delete(BINDING).raise_for_status()
    start_operator()
    installation.used_but(set)


def test_the_smallest_installation_misses_no_right_and_uses_what_it_alone_has(
    installation: AuditedInstallation, start_operator: Callable[[], ChildProcess]
) -> None:
    installation.use(*SMALLEST, keys=NAMESPACE)
    with FacadeThread(installation.plane.kubeconfig_for(API_USER), SHOWS, NAMESPACE) as facade:
        assert facade.http.get("/live/v2/preview/hls/a/index.m3u8").status_code == 404
        use_every_operation(facade, installation.resources)
        use_a_new_replica(installation, facade, RoomSettings())
    operator = start_operator()
    installation.run_a_show("smallest", operator)
    installation.used_but(set)
    operator.stop()
    assert installation.refused() == []


def test_an_installation_with_existing_rooms_misses_no_right_and_uses_what_it_alone_has(
    installation: AuditedInstallation, start_operator: Callable[[], ChildProcess]
) -> None:
    installation.use(*EXISTING)
    rights = installation.plane.kubeconfig_for(API_USER)
    with FacadeThread(rights, SHOWS, NAMESPACE, keys_namespace=KEYS, rooms=EXISTING_ROOMS) as facade:
        joining = facade.http.get("/webrtc/v2/rtc/validate", params={"access_token": "of-a-room"})
        assert joining.status_code in (401, 503)
    operator = start_operator()
    installation.run_a_show("existing", operator, webrtc={"hosted": {}}, room={"state": "Open"})
    installation.used_but(set)
    operator.stop()
    assert installation.refused() == []
