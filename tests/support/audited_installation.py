"""An installation whose programs' requests to the API server are known, and what there is for them to do."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import httpx
from tests.support.child_process import ChildProcess
from tests.support.control_plane import ControlPlane
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.helm import KEYS, NAMESPACE, ROOT, SHOWS, kubectl, named, render
from tests.support.operations import CALLS, LATER, OperationWorld
from tests.support.used_rights import Request, Right, granted, requests, unused
from tests.support.waiting import wait_for

from onair_api.settings import RoomSecretSettings, RoomSettings
from onair_crds.contract.labels import DESTINATION_LABEL, PROJECT_LABEL, RENDERER_KEY_TYPE
from onair_crds.contract.renderer_token import PUBLIC_PEM, RENDERER_KEY_SECRET
from onair_crds.shapes import Document

API_USER = f"system:serviceaccount:{NAMESPACE}:onair-api"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
PODS = f"/api/v1/namespaces/{SHOWS}/pods"
SECRETS = f"/api/v1/namespaces/{SHOWS}/secrets"
MERGE = {"Content-Type": "application/merge-patch+json"}
NOWHERE = RoomSettings(url="http://127.0.0.1:9")
APPLY = {"Content-Type": "application/apply-patch+yaml"}
PLURALS = {
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
}
TAKEN = "taken-pod-a-1"


EVERYTHING = ("--set", "ingest.service.type=NodePort")
"""What brings rights of its own, beside what is on by default."""
SMALLEST = (
    *("--set", "keysNamespace.name=,redis.enabled=false,redis.url=redis://a:6379,mediamtx.enabled=false"),
    *("--set", "ingest.enabled=false,rooms.enabled=false,encoder.sandbox.install=false,demo.enabled=false"),
)
EXISTING_ROOMS = RoomSettings(url="http://127.0.0.1:9", secret=RoomSecretSettings(name="my-rooms"))
EXISTING = (
    *("--set", f"rooms.enabled=false,rooms.url={EXISTING_ROOMS.url}"),
    *("--set", f"rooms.secret.name={EXISTING_ROOMS.secret.name}"),
    *("--set", "ingest.service.type=LoadBalancer,ingest.service.perRegion=true"),
    *("--set-json", 'regions=[{"name": "north", "latitude": 60, "longitude": 10}]'),
)
"""A server of rooms that is there already, and publishers by load balancers of each region."""


class AuditedInstallation:
    """The chart's rights for some values, and which of them its programs use."""

    def __init__(self, plane: ControlPlane, admin: httpx.Client) -> None:
        self.plane, self.admin = plane, admin
        self.keys, self.rights = KEYS, granted(render(*EVERYTHING))
        self._since = 0
        self._applied: set[str] = set()

    @property
    def resources(self) -> StoredResources:
        return StoredResources(self.admin, SHOWS, self.keys)

    def use(self, *options: str, keys: str = KEYS) -> None:
        """Gives it the Roles and the operator's settings of other values.

        From then on requests are counted anew, and as its rights those that it has beside EVERYTHING's.
        """
        objects = render(*options)
        rights = roles_of(objects)
        for path in (self._applied or {*roles_of(render(*EVERYTHING))}) - rights.keys():
            self.admin.delete(path).raise_for_status()
        self._applied = {*rights}
        for each in (*rights.values(), named(objects, "ConfigMap", "onair-operator")):
            by_test = {"fieldManager": "test", "force": "true"}
            self.admin.patch(
                path_of(each), params=by_test, content=json.dumps(each), headers=APPLY
            ).raise_for_status()
        self.keys, self.rights = keys, granted(objects) - granted(render(*EVERYTHING))
        self._since = self.plane.audit_log.stat().st_size

    def _requests(self) -> set[Request]:
        return requests(self.plane.audit_log, self._since)

    def unused(self) -> list[Right]:
        return unused(self.rights, self._requests())

    def used_but(self, left: Callable[[], set[tuple[str, str]]]) -> None:
        """Waits until all rights are used but these resources' and verbs."""
        wait_for(
            lambda: {(each.resource, each.verb) for each in self.unused()} <= left(),
            "all rights are used",
            30,
            state=lambda: "\n".join(["nothing uses", *map(str, self.unused())]),
        )

    def refused(self) -> list[Request]:
        return [each for each in self._requests() if each.refused]

    def pods(self) -> list[Document]:
        found: list[Document] = self.admin.get(PODS).raise_for_status().json()["items"]
        return found

    def create(self, path: str, **document: object) -> None:
        self.admin.post(path, json=document).raise_for_status()

    def run(self, project: str, collection: str = "sunday-service", **more: object) -> None:
        """A project on air, of the collection of the examples or another; its run is `a`."""
        spec = {"collectionId": collection, "broadcast": {"state": "Running", "id": "a"}, **more}
        self.resources.apply("Project", "projects", project, spec)

    def run_a_show(self, name: str, operator: ChildProcess, **more: object) -> None:
        """A collection with a project on air, whose encoder pod the operator makes."""
        owner = {"serviceId": "a", "serviceUserId": "b"}
        self.resources.apply("Collection", "collections", name, {"owner": owner})
        self.run(name, name, **more)
        pod = f"{name}-a-1"

        def made() -> bool:
            operator.check()
            return any(each["metadata"]["name"] == pod for each in self.pods())

        wait_for(
            made,
            f"the pod {pod}",
            30,
            state=lambda: [self.refused(), operator.log.read_text()[-3000:]],
        )


def roles_of(objects: list[Document]) -> dict[str, Document]:
    """Roles and their bindings, by their paths."""
    return {path_of(each): each for each in objects if each["kind"] in PLURALS}


def path_of(document: Document) -> str:
    """Of an object by which rights are given, or of a ConfigMap."""
    metadata = document["metadata"]
    plural = PLURALS.get(document["kind"])
    place = f"/namespaces/{metadata['namespace']}" if metadata.get("namespace") else ""
    root = RBAC if plural else "/api/v1"
    return f"{root}{place}/{plural or 'configmaps'}/{metadata['name']}"


def use_every_operation(facade: FacadeThread, resources: StoredResources) -> None:
    """Calls each operation twice, as the second finds nothing to change, and takes a snapshot."""
    headers, path = {"X-API-Key": resources.add_api_key("studio")}, "/live/v2/authentication/token"

    def token() -> httpx.Response:
        return facade.http.post(path, headers=headers, json={"serviceUserId": "anna"})

    wait_for(lambda: token().is_success, "the API key is known")
    user = User(facade, token().json()["accessToken"])
    world = OperationWorld(user, set(CALLS))
    for call in CALLS.values():
        once_only = call.method == "DELETE" or not call.status
        for _ in range(1 if once_only else 2):
            world.call(user, call)
    user = User(facade, token().json()["accessToken"])
    show = user.project()
    broadcast = {"id": "a", "epoch": 1, "phase": "Running", "pod": TAKEN, "encoder": "0"}
    resources.patch("projects", show.id, {"spec": {"broadcast": {"state": "Running", "id": "a"}}})
    resources.set_broadcast(show.id, broadcast)
    snapshot = f"{show.path}/broadcast/snapshot"
    wait_for(lambda: user.call("GET", snapshot).status_code not in (200, LATER), "the encoder is asked for")


def use_a_new_replica(
    installation: AuditedInstallation, facade: FacadeThread, rooms: RoomSettings = NOWHERE
) -> None:
    """One that has never seen the key of a token, and that verifies tokens of rooms."""
    resources = installation.resources
    headers, body = {"X-API-Key": resources.add_api_key("gone")}, {"serviceUserId": "anna"}
    path = "/live/v2/authentication/token"
    wait_for(lambda: facade.http.post(path, headers=headers, json=body).is_success, "the API key is known")
    token = facade.http.post(path, headers=headers, json=body).json()["accessToken"]
    resources.delete_api_key("gone")
    rights = installation.plane.kubeconfig_for(API_USER)
    with FacadeThread(rights, SHOWS, NAMESPACE, keys_namespace=installation.keys, rooms=rooms) as other:
        assert User(other, token).call("GET", "/collection").status_code == 401
        joining = other.http.get("/webrtc/v2/rtc/validate", params={"access_token": "of-a-room"})
        assert joining.status_code in (401, 404, 503)


def publish_another_key(installation: AuditedInstallation) -> None:
    """A public half of a key that the operator has not got."""
    installation.create(
        f"/api/v1/namespaces/{KEYS}/secrets",
        metadata={"name": RENDERER_KEY_SECRET},
        type=RENDERER_KEY_TYPE,
        data={PUBLIC_PEM: base64.b64encode(b"another").decode()},
    )


def take_names(installation: AuditedInstallation) -> None:
    """A pod and Secrets with the names of encoders to come."""
    context = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    spec = {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "a", "image": "a", "securityContext": context}],
    }
    installation.create(PODS, metadata={"name": TAKEN}, spec=spec)
    for name in (TAKEN, "taken-secret-a-1"):
        installation.create(SECRETS, metadata={"name": name, "labels": {PROJECT_LABEL: "taken-pod"}})


def let_everything_happen(installation: AuditedInstallation) -> None:
    """Shows, some of whose pods and Secrets have names that are taken, and a node that publishers come by."""
    installation.create("/api/v1/nodes", metadata={"name": "node"})
    place_node(installation, "192.0.2.1")
    kubectl(installation.plane, "apply", "-f", ROOT / "examples")
    made_for = {"metadata": {"labels": {DESTINATION_LABEL: "sunday-mediamtx"}}}
    installation.admin.patch(f"{SECRETS}/sunday-key", json=made_for, headers=MERGE).raise_for_status()
    for project in ("taken-pod", "taken-secret"):
        installation.run(project)


def place_node(installation: AuditedInstallation, address: str) -> None:
    status = {
        "addresses": [{"type": "InternalIP", "address": address}],
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    path = "/api/v1/nodes/node/status"
    installation.admin.patch(path, json={"status": status}, headers=MERGE).raise_for_status()


def write_what_the_operator_writes(installation: AuditedInstallation, number: int) -> None:
    """New objects that change while the operator writes to them: it has to read them again."""
    resources, name = installation.resources, f"contended-{number}"
    address = {"rtmpPush": {"url": "rtmp://media.example/live"}}
    resources.apply("Collection", "collections", name, {"owner": {"serviceId": "a", "serviceUserId": "b"}})
    # The operator writes to a collection once alone, when it is new
    for count in range(30):
        resources.patch("collections", name, {"metadata": {"annotations": {"new": str(count)}}})
    resources.apply("Project", "projects", name, {"collectionId": name})
    resources.apply("Source", "sources", name, {"collectionId": name, "address": {"rtmpPush": {}}})
    resources.apply("Destination", "destinations", name, {"projectId": name, "address": address})
    for count in range(10):
        note = {"metadata": {"annotations": {"count": str(count)}}}
        for plural in ("collections", "projects", "sources", "destinations"):
            resources.patch(plural, name, note)


def refer_to(installation: AuditedInstallation, secret: str, reason: str) -> None:
    """Has the destination of the examples name a Secret, and waits for what the operator says of it."""
    reference = {"name": secret, "key": "streamKey"}
    spec = {"address": {"rtmpPush": {"keySecretRef": reference}}}
    installation.resources.patch("destinations", "sunday-mediamtx", {"spec": spec})

    def said() -> bool:
        status = installation.resources.get("destinations", "sunday-mediamtx").get("status") or {}
        return any(each["reason"] == reason for each in status.get("conditions", []))

    wait_for(said, f"{reason} of {secret}", 60)
