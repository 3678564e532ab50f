"""Projects are released by an operator without rights only where their namespace is being deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from tests.support.documents import document

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.cluster.closing_namespace import release_projects

DELETED = {"deletionTimestamp": "2026-05-01T12:00:00Z"}


class NamespaceApiServer:
    def __init__(self, namespace: Document | None, *projects: Document) -> None:
        self.namespace, self.projects = namespace, projects
        self.conflict = False
        self.finalizers: dict[str, list[str]] = {}

    async def get(self, api: Api, _: str | None, name: str) -> Document:
        if self.namespace is None:
            raise ApiError(403, "Forbidden", "no")
        return document(name, **self.namespace)

    async def pages(self, api: Api, _: str | None) -> AsyncIterator[Document]:
        for project in self.projects:
            yield {"items": [project]}

    async def merge_patch(self, _: Api, __: str, name: str, patch: Document) -> Document:
        if self.conflict:
            self.conflict = False
            raise ApiError(409, "Conflict", "modified")
        self.finalizers[name] = patch["metadata"]["finalizers"]
        return {}


def show(name: str, *finalizers: str, **metadata: Any) -> Document:
    return document(name, finalizers=list(finalizers), **metadata)


LIVE = show("live", BROADCAST_FINALIZER)
LEAVING = show("leaving", "foregroundDeletion", BROADCAST_FINALIZER, **DELETED)
OTHERS = show("others", "foregroundDeletion", **DELETED)


@pytest.mark.parametrize(
    ("namespace", "released"),
    [(DELETED, {"leaving": ["foregroundDeletion"]}), ({}, {}), (None, {})],
    ids=["being deleted", "there", "unknown"],
)
async def test_only_what_waits_for_us_in_a_namespace_that_is_being_deleted_is_released(
    namespace: Document | None, released: dict[str, list[str]]
) -> None:
    api = NamespaceApiServer(namespace, LIVE, LEAVING, OTHERS)
    await release_projects(cast(Any, api), "shows")
    assert api.finalizers == released


async def test_a_conflict_holds_up_no_other_project() -> None:
    again = show("again", BROADCAST_FINALIZER, **DELETED)
    api = NamespaceApiServer(DELETED, again, LEAVING)
    api.conflict = True
    await release_projects(cast(Any, api), "shows")
    assert list(api.finalizers) == ["leaving"]
