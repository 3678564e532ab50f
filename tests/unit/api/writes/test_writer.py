"""What a writer deletes, whatever others write between its two requests."""

from __future__ import annotations

from typing import cast

import pytest

from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import PROJECT
from onair_api.errors import FailedPrecondition, NotFound
from onair_api.settings import Settings
from onair_api.writes.quota_enforcement import Quotas
from onair_api.writes.request_note import RequestNote
from onair_api.writes.writer import Writer
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document


def project(uid: str, version: int, *, live: bool = False) -> Document:
    return {
        "kind": PROJECT,
        "metadata": {"name": "show", "uid": uid, "resourceVersion": str(version)},
        "spec": {"collectionId": "c", "live": live},
    }


class ApiServerWithAnEarlyWatch:
    """Its response to a patch comes after the watch has brought `meanwhile`."""

    def __init__(self, meanwhile: Document) -> None:
        settings = Settings()
        self.cluster = Cluster(self, settings)  # type: ignore[arg-type]
        self.writer = Writer(
            self.cluster, settings.inside, Quotas(self.cluster.view, settings.quotas, lambda *_: False)
        )
        self.stored = project("former", 1)
        self.meanwhile: Document | None = meanwhile
        self.deleted: list[str] = []
        self.cluster.view.update(PROJECT, project("former", 1))

    async def json_patch(self, *args: object) -> Document:
        operations = cast(list[Document], args[3])
        metadata = self.stored["metadata"]
        if operations[0]["value"] != metadata["resourceVersion"]:
            raise ApiError(409, "Conflict", "")
        version = int(metadata["resourceVersion"]) + 1
        response = project(metadata["uid"], version, live=self.stored["spec"]["live"])
        self.stored = response
        if self.meanwhile:
            self.stored, self.meanwhile = self.meanwhile, None
            self.cluster.view.update(PROJECT, {**self.stored})
        return response

    async def get(self, *_: object) -> Document:
        return self.stored

    async def delete(self, *_: object, uid: str, resource_version: str) -> Document:
        metadata = self.stored["metadata"]
        if (metadata["uid"], metadata["resourceVersion"]) != (uid, resource_version):
            raise ApiError(409, "Conflict", "")
        self.deleted.append(uid)
        return {"kind": "Status"}


def permit(entry: Entry) -> None:
    if entry.spec["live"]:
        raise FailedPrecondition("is live")


async def test_what_went_on_air_meanwhile_is_not_deleted() -> None:
    server = ApiServerWithAnEarlyWatch(project("former", 3, live=True))
    entry = server.cluster.view.get(PROJECT, "show")
    assert entry
    with pytest.raises(FailedPrecondition):
        await server.writer.delete(entry, RequestNote(), permit)
    assert not server.deleted


async def test_the_successor_is_not_deleted() -> None:
    server = ApiServerWithAnEarlyWatch(project("successor", 3))
    entry = server.cluster.view.get(PROJECT, "show")
    assert entry
    with pytest.raises(NotFound):
        await server.writer.delete(entry, RequestNote())
    assert not server.deleted
