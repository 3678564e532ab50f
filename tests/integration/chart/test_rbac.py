"""Tests the chart's RBAC: each program has the rights that it needs, and no others.

That nothing has more is read from the API server's audit log, while operator and facade do all that they do.
"""

import base64
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.support.child_process import ChildProcess
from tests.support.control_plane import ControlPlane
from tests.support.facade import Cluster, Facade, User
from tests.support.helm import CHART, KEYS, NAMESPACE, ROOT, SHOWS, install, kubectl, render
from tests.support.node_labeller import labeller
from tests.support.operations import CALLS, LATER, World
from tests.support.used_rights import Right, granted, requests, unused
from tests.support.waiting import wait_for

from onair_api.settings import RoomSettings
from onair_crds.contract.labels import DESTINATION_LABEL, PROJECT_LABEL, RENDERER_KEY_TYPE
from onair_crds.contract.renderer_token import PUBLIC_PEM, RENDERER_KEY_SECRET
from onair_crds.shapes import Document
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


OPTIONS = ("--set", "ingest.service.type=NodePort", "--set", "rooms.enabled=true")
"""Everything that brings rights of its own."""
WITHOUT_RIGHTS = {("namespaces", "get")}
"""Asked only where the operator has lost its rights in the show namespace."""
AT_ITS_END = {("events", "patch")}
"""Repeated Events are counted up after ten seconds, or as the operator ends."""
LATER_IN_THE_SHOW = {("pods", "delete"), ("secrets", "delete"), ("configmaps", "patch")}
TAKEN = "taken-pod-a-1"
PODS = f"/api/v1/namespaces/{SHOWS}/pods"
SECRETS = f"/api/v1/namespaces/{SHOWS}/secrets"
BINDING = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{SHOWS}/rolebindings/onair-operator"
MERGE = {"Content-Type": "application/merge-patch+json"}


class Installation:
    """The chart with everything on, and what an API server is asked by its programs."""

    def __init__(self, plane: ControlPlane, admin: httpx.Client) -> None:
        install(plane, CHART, *OPTIONS)
        self.plane, self.admin = plane, admin
        self.cluster = Cluster(admin, SHOWS, KEYS)
        self.rights = granted(render(*OPTIONS))

    def unused(self) -> list[Right]:
        return unused(self.rights, requests(self.plane.audit_log))

    def used_but(self, left: Callable[[], set[tuple[str, str]]]) -> None:
        """Waits until all rights are used but these resources' and verbs."""
        wait_for(
            lambda: {(each.resource, each.verb) for each in self.unused()} <= left(),
            "all rights are used",
            30,
            state=lambda: "\n".join(["nothing uses", *map(str, self.unused())]),
        )

    def refused(self) -> list[object]:
        return [each for each in requests(self.plane.audit_log) if each.refused]

    def pods(self) -> list[Document]:
        found: list[Document] = self.admin.get(PODS).raise_for_status().json()["items"]
        return found

    def create(self, path: str, **document: object) -> None:
        self.admin.post(path, json=document).raise_for_status()

    def run(self, project: str) -> None:
        """A project on air, of the collection of the examples; its run is `a`."""
        spec = {"collectionId": "sunday-service", "broadcast": {"state": "Running", "id": "a"}}
        self.cluster.apply("Project", "projects", project, spec)


@pytest.fixture(scope="module")
def installation(installed: ControlPlane, cluster: httpx.Client) -> Installation:
    return Installation(installed, cluster)


def use_every_operation(facade: Facade, cluster: Cluster) -> None:
    """Calls each operation twice, as the second finds nothing to change, and takes a snapshot."""
    headers, path = {"X-API-Key": cluster.add_api_key("studio")}, "/live/v2/authentication/token"

    def token() -> httpx.Response:
        return facade.http.post(path, headers=headers, json={"serviceUserId": "anna"})

    wait_for(lambda: token().is_success, "the API key is known")
    user = User(facade, token().json()["accessToken"])
    world = World(user, set(CALLS))
    for call in CALLS.values():
        once_only = call.method == "DELETE" or not call.status
        for _ in range(1 if once_only else 2):
            world.call(user, call)
    user = User(facade, token().json()["accessToken"])
    show = user.project()
    broadcast = {"id": "a", "epoch": 1, "phase": "Running", "pod": TAKEN, "encoder": "0"}
    cluster.patch("projects", show.id, {"spec": {"broadcast": {"state": "Running", "id": "a"}}})
    cluster.set_broadcast(show.id, broadcast)
    snapshot = f"{show.path}/broadcast/snapshot"
    wait_for(lambda: user.call("GET", snapshot).status_code not in (200, LATER), "the encoder is asked for")


def use_a_new_replica(installation: Installation, facade: Facade) -> None:
    """One that has never seen the key of a token, and that verifies tokens of rooms."""
    cluster = installation.cluster
    headers, body = {"X-API-Key": cluster.add_api_key("gone")}, {"serviceUserId": "anna"}
    path = "/live/v2/authentication/token"
    wait_for(lambda: facade.http.post(path, headers=headers, json=body).is_success, "the API key is known")
    token = facade.http.post(path, headers=headers, json=body).json()["accessToken"]
    for each in cluster.secrets(KEYS):
        if (name := each["metadata"]["name"]).startswith("api-key-"):
            installation.admin.delete(f"/api/v1/namespaces/{KEYS}/secrets/{name}").raise_for_status()
    rights = installation.plane.kubeconfig_for(f"system:serviceaccount:{NAMESPACE}:{API}")
    rooms = RoomSettings(url="http://127.0.0.1:9")
    with Facade(rights, SHOWS, NAMESPACE, keys_namespace=KEYS, rooms=rooms) as other:
        assert User(other, token).call("GET", "/collection").status_code == 401
        joining = other.http.get("/webrtc/v2/rtc/validate", params={"access_token": "of-a-room"})
        assert joining.status_code in (401, 503)


def publish_another_key(installation: Installation) -> None:
    """A public half of a key that the operator has not got."""
    installation.create(
        f"/api/v1/namespaces/{KEYS}/secrets",
        metadata={"name": RENDERER_KEY_SECRET},
        type=RENDERER_KEY_TYPE,
        data={PUBLIC_PEM: base64.b64encode(b"another").decode()},
    )


def take_names(installation: Installation) -> None:
    """A pod and Secrets with the names of encoders to come."""
    context = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    spec = {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "a", "image": "a", "securityContext": context}],
    }
    installation.create(PODS, metadata={"name": TAKEN}, spec=spec)
    for name in (TAKEN, "taken-secret-a-1"):
        installation.create(SECRETS, metadata={"name": name, "labels": {PROJECT_LABEL: "taken-pod"}})


def let_everything_happen(installation: Installation) -> None:
    """Shows, some of whose pods and Secrets have names that are taken, and a node that publishers come by."""
    installation.create("/api/v1/nodes", metadata={"name": "node"})
    place_node(installation, "192.0.2.1")
    kubectl(installation.plane, "apply", "-f", ROOT / "examples")
    made_for = {"metadata": {"labels": {DESTINATION_LABEL: "sunday-mediamtx"}}}
    installation.admin.patch(f"{SECRETS}/sunday-key", json=made_for, headers=MERGE).raise_for_status()
    for project in ("taken-pod", "taken-secret"):
        installation.run(project)


def place_node(installation: Installation, address: str) -> None:
    status = {
        "addresses": [{"type": "InternalIP", "address": address}],
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    path = "/api/v1/nodes/node/status"
    installation.admin.patch(path, json={"status": status}, headers=MERGE).raise_for_status()


def write_what_the_operator_writes(installation: Installation, number: int) -> None:
    """New objects that change while the operator writes to them: it has to read them again."""
    cluster, name = installation.cluster, f"contended-{number}"
    address = {"rtmpPush": {"url": "rtmp://media.example/live"}}
    cluster.apply("Collection", "collections", name, {"owner": {"serviceId": "a", "serviceUserId": "b"}})
    # The operator writes to a collection once alone, when it is new
    for count in range(30):
        cluster.patch("collections", name, {"metadata": {"annotations": {"new": str(count)}}})
    cluster.apply("Project", "projects", name, {"collectionId": name})
    cluster.apply("Source", "sources", name, {"collectionId": name, "address": {"rtmpPush": {}}})
    cluster.apply("Destination", "destinations", name, {"projectId": name, "address": address})
    for count in range(10):
        note = {"metadata": {"annotations": {"count": str(count)}}}
        for plural in ("collections", "projects", "sources", "destinations"):
            cluster.patch(plural, name, note)


def refer_to(installation: Installation, secret: str, reason: str) -> None:
    """Has the destination of the examples name a Secret, and waits for what the operator says of it."""
    reference = {"name": secret, "key": "streamKey"}
    spec = {"address": {"rtmpPush": {"keySecretRef": reference}}}
    installation.cluster.patch("destinations", "sunday-mediamtx", {"spec": spec})

    def said() -> bool:
        status = installation.cluster.get("destinations", "sunday-mediamtx").get("status") or {}
        return any(each["reason"] == reason for each in status.get("conditions", []))

    wait_for(said, f"{reason} of {secret}", 60)


def rights_on_secrets(account: str, namespace: str) -> set[tuple[str, str]]:
    """Verbs, and names or nothing, in the namespace, where keys have one of their own."""
    return {
        (each.verb, each.name)
        for each in granted(render())
        if each.user.endswith(f":{account}") and each.resource == "secrets" and each.namespace == namespace
    }


def test_keys_apart_are_the_facades_alone_and_it_reads_no_other_secret_of_the_release() -> None:
    shared = {("get", "onair-ingest"), ("get", "onair-rooms")}
    assert rights_on_secrets(API, NAMESPACE) == shared
    assert rights_on_secrets(API, "onair-keys") == {(verb, "") for verb in ("get", "list", "watch", "create")}
    public = {("create", ""), ("get", "onair-renderer-signing"), ("delete", "onair-renderer-signing")}
    assert rights_on_secrets(OPERATOR, "onair-keys") == public
    assert ("list", "") not in rights_on_secrets(OPERATOR, NAMESPACE)


def test_no_right_is_to_all_kinds_or_all_verbs(installation: Installation) -> None:
    assert [each for each in installation.rights if "*" in (each.group, each.resource, each.verb)] == []


def test_every_right_is_used_and_none_is_missing(
    installation: Installation,
    facade: Facade,
    start_operator: Callable[[], ChildProcess],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take_names(installation)
    use_every_operation(facade, installation.cluster)
    with monkeypatch.context() as variables:
        variables.delenv("ONAIR_CONFIG")  # the operator's
        use_a_new_replica(installation, facade)
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
    installation.cluster.patch("projects", "sunday-1100", {"spec": {"broadcast": {"state": "Stopped"}}})
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
