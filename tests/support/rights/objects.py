"""Objects of an installation, as kubectl makes and sees them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import httpx
from tests.support.facade import StoredResources
from tests.support.helm import NAMESPACE, SHOWS
from tests.support.waiting import wait_for

from onair_crds.contract.labels import CREDENTIALS_TYPE
from onair_crds.shapes import Document

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}
PODS = f"/api/v1/namespaces/{SHOWS}/pods"
EVENTS = f"/api/v1/namespaces/{SHOWS}/events"
NODES = "/api/v1/nodes"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
POLL_S = 0.05
"""Between two looks, each of which is a request."""


def secrets_of(namespace: str) -> str:
    """The path of a namespace's Secrets."""
    return f"/api/v1/namespaces/{namespace}/secrets"


SECRETS = secrets_of(SHOWS)


def pod_of(project: str, epoch: int = 1) -> str:
    """The path of an encoder pod of the run `a`."""
    return f"{PODS}/{project}-a-{epoch}"


def identity_of(project: str) -> str:
    """The path of its Secret."""
    return f"{SECRETS}/{project}-a-1"


def key_reference(secret: str) -> Document:
    return {"keySecretRef": {"name": secret, "key": "streamKey"}}


def wait(what: str, check: Callable[[], object]) -> None:
    """Waits until something holds that takes a request to see."""
    wait_for(lambda: bool(check()), what, poll_s=POLL_S)


class Objects:
    def __init__(self, admin: httpx.Client) -> None:
        self.admin = admin
        self.resources = StoredResources(admin, SHOWS, "")
        self._numbers = itertools.count(1)

    # Of any kind

    def name(self, kind: str) -> str:
        """One that nothing has."""
        return f"{kind}-{next(self._numbers)}"

    def create(self, path: str, **document: object) -> None:
        self.admin.post(path, json=document).raise_for_status()

    def patch(self, path: str, **change: object) -> None:
        self.admin.patch(path, json=change, headers=MERGE_PATCH).raise_for_status()

    def delete(self, path: str) -> None:
        """Deletes an object, if it is there."""
        response = self.admin.delete(path)
        assert response.is_success or response.status_code == httpx.codes.NOT_FOUND, response.text

    def exists(self, path: str) -> bool:
        return self.admin.get(path).is_success

    def listed(self, path: str, **query: str) -> list[Document]:
        found: list[Document] = self.admin.get(path, params=query).raise_for_status().json()["items"]
        return found

    def secret(self, path: str, name: str, **data: str) -> None:
        """Makes one, unless there is one of this name."""
        if not self.exists(f"{path}/{name}"):
            self.create(path, metadata={"name": name}, stringData=data)

    # Of shows

    def collection(self) -> str:
        name = self.name("collection")
        owner = {"serviceId": "studio", "serviceUserId": "anna"}
        self.resources.apply("Collection", "collections", name, {"owner": owner})
        return name

    def project(self, name: str = "", **spec: object) -> str:
        """A project off air, of a collection of its own."""
        name = name or self.name("project")
        spec.setdefault("collectionId", self.collection())
        self.resources.apply("Project", "projects", name, spec)
        return name

    def show(self, name: str = "") -> str:
        """A project that is to be on air."""
        return self.project(name, broadcast={"state": "Running", "id": "a"})

    def source(self, collection: str = "") -> str:
        name = self.name("source")
        spec = {"collectionId": collection or self.collection(), "address": {"rtmpPush": {}}}
        self.resources.apply("Source", "sources", name, spec)
        return name

    def destination(self, project: str, secret: str = "", name: str = "") -> str:
        """
        Args:
            secret: holds its key.
        """
        name = name or self.name("destination")
        address = {"url": "rtmp://media.example/live", **(key_reference(secret) if secret else {})}
        spec = {"projectId": project, "address": {"rtmpPush": address}}
        self.resources.apply("Destination", "destinations", name, spec)
        return name

    def layout(self, project: str) -> str:
        name = self.name("layout")
        self.resources.apply("Layout", "layouts", name, {"projectId": project})
        return name

    def credentials(self, name: str = "", labels: Document | None = None) -> str:
        """A Secret that shows may use."""
        name = name or self.name("credentials")
        metadata = {"name": name, "labels": labels or {}}
        self.create(SECRETS, metadata=metadata, type=CREDENTIALS_TYPE, stringData={"streamKey": "key"})
        return name

    # What is told of them

    def status(self, plural: str, name: str) -> Document:
        found: Document = self.resources.get(plural, name).get("status") or {}
        return found

    def broadcast(self, project: str) -> Document:
        """The record of its run."""
        found: Document = self.status("projects", project).get("broadcast") or {}
        return found

    def ready(self, plural: str, name: str) -> tuple[str, str]:
        """The condition Ready: its reason and its message."""
        conditions = self.status(plural, name).get("conditions") or []
        found = [each for each in conditions if each["type"] == "Ready"]
        return (found[0]["reason"], found[0]["message"]) if found else ("", "")

    def owners(self, path: str) -> list[str]:
        """Names of those that it is deleted with."""
        document = self.admin.get(path).raise_for_status().json()
        return [each["name"] for each in document["metadata"].get("ownerReferences") or []]

    def events(self, name: str) -> list[Document]:
        """Those on an object."""
        return self.listed(EVENTS, fieldSelector=f"involvedObject.name={name}")

    def told(self, name: str, reason: str) -> bool:
        """Whether there is such an Event on an object."""
        return any(each["reason"] == reason for each in self.events(name))
