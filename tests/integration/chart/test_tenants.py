"""Tenants with kubectl in one show namespace (`showNamespace.tenants`): what an API server refuses them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import httpx
import pytest
import yaml
from tests.support.control_plane import ControlPlane
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.helm import CHART, KEYS, NAMESPACE, ROOT, SHOWS, install, kubectl
from tests.support.waiting import wait_for

from onair_crds.shapes import Document

CRDS = f"/apis/onair.dev/v1alpha1/namespaces/{SHOWS}"
SECRETS = f"/api/v1/namespaces/{SHOWS}/secrets"
RBAC = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{SHOWS}"
LABEL = "onair.dev/tenant"
PAGE = ROOT / "docs/reference/tenants.md"
API = f"system:serviceaccount:{NAMESPACE}:onair-api"
KINDS = {
    "collections": "Collection",
    "projects": "Project",
    "sources": "Source",
    "destinations": "Destination",
}
FOREIGN = "must be a tenant that you may use"
TAKE: Document = {"metadata": {"labels": {LABEL: "church"}}}
START: Document = {"spec": {"broadcast": {"state": "Running"}}}


class Tenant:
    """A user with kubectl who may use one tenant."""

    def __init__(self, plane_client: httpx.Client, name: str) -> None:
        self._cluster = plane_client
        self.name = name
        self.headers = {"Impersonate-User": name}

    def send(self, method: str, path: str, body: Document | None = None) -> httpx.Response:
        headers = self.headers | (
            {"Content-Type": "application/merge-patch+json"} if method == "PATCH" else {}
        )
        return self._cluster.request(method, path, json=body, headers=headers)

    def create(self, kind: str, name: str, spec: Document, tenant: str | None = None) -> str:
        """Why it is refused; empty where it is stored."""
        metadata = {"name": name, "labels": {LABEL: tenant if tenant is not None else self.name}}
        body = {"apiVersion": "onair.dev/v1alpha1", "kind": KINDS[kind], "metadata": metadata, "spec": spec}
        return said(self.send("POST", f"{CRDS}/{kind}", body))

    def secret(self, name: str, *, type: str = "onair.dev/credentials", **labels: str) -> str:
        metadata = {"name": name, "labels": {LABEL: self.name, **labels}}
        return said(
            self.send("POST", SECRETS, {"metadata": metadata, "type": type, "stringData": {"key": "k"}})
        )


def said(response: httpx.Response) -> str:
    return "" if response.is_success else str(response.json()["message"])


def destination(project: str, secret: str) -> Document:
    push = {"url": "rtmp://live.example.org/app", "keySecretRef": {"name": secret, "key": "key"}}
    return {"projectId": project, "address": {"rtmpPush": push}}


def send_out(tenant: Tenant, project: str, secret: str) -> str:
    return tenant.create("destinations", f"{tenant.name}--mine", destination(project, secret))


def owner_of(tenant: Tenant) -> Document:
    """Another's project as the owner of what is changed."""
    uid = tenant.send("GET", f"{CRDS}/projects/club--show").json()["metadata"]["uid"]
    owner = {"apiVersion": "onair.dev/v1alpha1", "kind": "Project", "name": "club--show", "uid": uid}
    return {"metadata": {"ownerReferences": [owner | {"blockOwnerDeletion": True}]}}


def owned_by(service: str) -> Document:
    return {"owner": {"serviceId": service, "serviceUserId": "anna"}}


def admit(plane_client: httpx.Client, tenant: str) -> None:
    """Gives a tenant the Role of the reference."""
    (role,) = re.findall(r"```yaml\n(.*?kind: Role\n.*?)```", PAGE.read_text(), re.DOTALL)
    body = yaml.safe_load(role.replace("church", tenant))
    plane_client.post(f"{RBAC}/roles", json=body).raise_for_status()
    binding = {
        "metadata": {"name": f"tenant-{tenant}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": f"tenant-{tenant}"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": tenant}],
    }
    plane_client.post(f"{RBAC}/rolebindings", json=binding).raise_for_status()
    asked = {"namespace": SHOWS, "verb": "create", "resource": "secrets"}
    review = {"spec": {"user": tenant, "resourceAttributes": asked}}

    def is_admitted() -> bool:
        answer = plane_client.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", json=review)
        return bool(answer.raise_for_status().json()["status"]["allowed"])

    wait_for(is_admitted, f"{tenant} may write", 60)


@pytest.fixture(scope="module")
def kept_apart(installed: ControlPlane, plane_client: httpx.Client) -> Iterator[tuple[Tenant, Tenant]]:
    """Two tenants, each with a collection, a project and a Secret."""
    install(installed, CHART, "--set", "showNamespace.tenants=true")
    both = Tenant(plane_client, "church"), Tenant(plane_client, "club")
    for tenant in both:
        admit(plane_client, tenant.name)
    probe = {"metadata": {"name": "probe"}, "type": "Opaque"}
    wait_for(lambda: both[0].send("POST", f"{SECRETS}?dryRun=All", probe).status_code == 403, "in force", 60)
    for tenant in both:
        own = f"{tenant.name}--"
        assert not tenant.create("collections", f"{own}all", owned_by(tenant.name))
        assert not tenant.create("projects", f"{own}show", {"collectionId": f"{own}all"})
        assert not tenant.secret(f"{own}key")
    yield both
    install(installed, CHART, "--reset-values")


def test_a_tenant_has_a_whole_show(kept_apart: tuple[Tenant, Tenant]) -> None:
    church, _ = kept_apart
    assert not church.create(
        "sources", "church--camera", {"collectionId": "church--all", "address": {"rtmpPush": {}}}
    )
    assert not church.secret("source-church--camera"), "the key of a source of its own"
    assert not church.create("destinations", "church--out", destination("church--show", "church--key"))
    patch = {"spec": {"sources": [{"sourceId": "church--camera"}], "broadcast": {"state": "Running"}}}
    assert not said(church.send("PATCH", f"{CRDS}/projects/church--show", patch))
    assert not said(church.send("DELETE", f"{CRDS}/destinations/church--out"))


def test_a_tenant_reads_no_url_of_another_that_may_hold_a_key(kept_apart: tuple[Tenant, Tenant]) -> None:
    church, club = kept_apart
    pulled: Document = {"rtmpPull": {"url": "rtmp://live.example.org/app/key"}}
    for tenant in kept_apart:
        own = f"{tenant.name}--"
        assert not tenant.create("sources", f"{own}feed", {"collectionId": f"{own}all", "address": pulled})
        assert not tenant.create("destinations", f"{own}live", destination(f"{own}show", f"{own}key"))
    for kind, name in (("sources", "feed"), ("destinations", "live")):
        assert church.send("GET", f"{CRDS}/{kind}").status_code == 403
        assert church.send("GET", f"{CRDS}/{kind}?watch=true&timeoutSeconds=1").status_code == 403
        assert church.send("GET", f"{CRDS}/{kind}/club--{name}").status_code == 403
        assert church.send("GET", f"{CRDS}/{kind}/church--{name}").is_success
        by_name = f"?fieldSelector=metadata.name%3Dchurch--{name}"
        (found,) = church.send("GET", f"{CRDS}/{kind}{by_name}").raise_for_status().json()["items"]
        assert found["metadata"]["name"] == f"church--{name}"
        assert club.send("GET", f"{CRDS}/{kind}/club--{name}").is_success
        for tenant in kept_apart:
            assert not said(tenant.send("DELETE", f"{CRDS}/{kind}/{tenant.name}--{name}"))


def test_a_tenant_applies_what_it_cannot_read(
    kept_apart: tuple[Tenant, Tenant], installed: ControlPlane
) -> None:
    church, _ = kept_apart
    body = {
        "apiVersion": "onair.dev/v1alpha1",
        "kind": "Destination",
        "metadata": {"name": "church--other", "namespace": SHOWS, "labels": {LABEL: "church"}},
        "spec": destination("church--show", "church--key"),
    }
    apply = ("apply", "--server-side", "--as", "church", "-f", "-")
    for _ in range(2):
        applied = kubectl(installed, *apply, stdin=yaml.safe_dump(body))
        assert applied == "destination.onair.dev/church--other serverside-applied"
    assert church.send("GET", f"{CRDS}/destinations/church--other").status_code == 403
    assert not said(church.send("DELETE", f"{CRDS}/destinations/church--other"))


REFUSED: dict[str, tuple[Callable[[Tenant], str], str]] = {
    "the label of another tenant": (
        lambda church: church.create("collections", "club--mine", owned_by("club"), "club"),
        FOREIGN,
    ),
    "no label": (
        lambda church: church.create("collections", "church--mine", owned_by("church"), ""),
        FOREIGN,
    ),
    "a name that is another's": (
        lambda church: church.create("collections", "club--mine", owned_by("church")),
        "metadata.name: must begin with church--",
    ),
    "another's owner": (
        lambda church: church.create("collections", "church--mine", owned_by("club")),
        "spec.owner.serviceId: must be church",
    ),
    "a project in another's collection": (
        lambda church: church.create("projects", "church--mine", {"collectionId": "club--all"}),
        "which begin with church--: not club--all",
    ),
    "another's source": (
        lambda church: church.create(
            "projects",
            "church--mine",
            {"collectionId": "church--all", "sources": [{"sourceId": "club--camera"}]},
        ),
        "not club--camera",
    ),
    "a destination of another's show": (
        lambda church: church.create(
            "destinations", "church--mine", destination("club--show", "church--key")
        ),
        "not club--show",
    ),
    "a reference that would keep another's from being deleted": (
        lambda church: said(church.send("PATCH", f"{CRDS}/projects/church--show", owner_of(church))),
        "which begin with church--: not club--show",
    ),
    "another's Secret": (
        lambda church: church.create(
            "destinations", "church--mine", destination("church--show", "club--key")
        ),
        "spec.address: must name Secrets of its own tenant",
    ),
    "a Secret that is nobody's": (
        lambda church: church.create(
            "destinations", "church--mine", destination("church--show", "source-camera")
        ),
        "spec.address: must name Secrets of its own tenant",
    ),
    "the key of another's source": (
        lambda church: church.secret("source-club--camera"),
        "metadata.name: must begin with church--",
    ),
    "a Secret of another type": (
        lambda church: church.secret("church--code", type="onair.dev/guest-code"),
        "type: must be onair.dev/credentials",
    ),
    "a label that OnAir finds Secrets by": (
        lambda church: church.secret("church--code", **{"onair.dev/guest-code-of": "club--show"}),
        "its only label of onair.dev the tenant's",
    ),
    "a change of another's": (
        lambda church: said(church.send("PATCH", f"{CRDS}/projects/club--show", START)),
        FOREIGN,
    ),
    "a change of another's Secret": (
        lambda church: said(church.send("PATCH", f"{SECRETS}/club--key", {"stringData": {"key": "mine"}})),
        FOREIGN,
    ),
    "taking another's by its label": (
        lambda church: said(church.send("PATCH", f"{CRDS}/projects/club--show", TAKE)),
        FOREIGN,
    ),
    "deleting another's": (
        lambda church: said(church.send("DELETE", f"{CRDS}/collections/club--all")),
        FOREIGN,
    ),
    "deleting another's Secret": (
        lambda church: said(church.send("DELETE", f"{SECRETS}/club--key")),
        FOREIGN,
    ),
}


@pytest.mark.parametrize("attempt", REFUSED)
def test_a_tenant_is_refused(kept_apart: tuple[Tenant, Tenant], attempt: str) -> None:
    church, _ = kept_apart
    act, reason = REFUSED[attempt]
    assert reason in act(church)


def test_a_name_that_could_be_a_sources_key_is_no_tenant(
    kept_apart: tuple[Tenant, Tenant], plane_client: httpx.Client
) -> None:
    """The Secret source-club--camera would be its own by that name."""
    greedy = Tenant(plane_client, "source-club")
    admit(plane_client, greedy.name)
    assert "not begin with 'source-'" in greedy.secret("source-club--camera")
    double = Tenant(plane_client, "club--x")
    admit(plane_client, double.name)
    assert "single '-'" in double.secret("club--x--key")


def test_an_administrator_moves_and_deletes(
    kept_apart: tuple[Tenant, Tenant], plane_client: httpx.Client
) -> None:
    body: Document = {
        "apiVersion": "onair.dev/v1alpha1",
        "kind": "Collection",
        "metadata": {"name": "theirs"},
    }
    plane_client.post(f"{CRDS}/collections", json=body | {"spec": owned_by("anyone")}).raise_for_status()
    plane_client.delete(f"{CRDS}/collections/theirs").raise_for_status()


def test_the_http_interface_goes_on(
    kept_apart: tuple[Tenant, Tenant], installed: ControlPlane, plane_client: httpx.Client
) -> None:
    """What it makes is of no tenant here: no tenant with kubectl changes it, or what it keeps in Secrets."""
    church, _ = kept_apart
    key = StoredResources(plane_client, SHOWS, KEYS).add_api_key("studio")
    with FacadeThread(installed.kubeconfig_for(API), SHOWS, NAMESPACE, keys_namespace=KEYS) as facade:
        token = wait_for(lambda: sign_in(facade, key), "the key is known")
        show = User(facade, token).project()
        made = show.destination(address={"rtmpPush": {"url": "rtmp://live.example.org/app", "key": "secret"}})
        assert made["projectId"] == show.id
        assert FOREIGN in said(church.send("DELETE", f"{CRDS}/projects/{show.id}"))
        assert f"not {show.id}" in send_out(church, show.id, "church--key")
        show.user.ok("DELETE", show.path)
        wait_for(lambda: not plane_client.get(f"{CRDS}/projects/{show.id}").is_success, "it is gone")


def sign_in(facade: FacadeThread, key: str) -> str:
    response = facade.http.post(
        "/live/v2/authentication/token", headers={"X-API-Key": key}, json={"serviceUserId": "anna"}
    )
    return str(response.json()["accessToken"]) if response.is_success else ""
