"""The store is fed by watches, lists and single reads; each change is reported once."""

from __future__ import annotations

from typing import Any, cast

import pytest
from tests.support.documents import destination_document, document

from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Change, Store
from onair_crds.shapes import Document
from onair_operator.cluster.watch import Watch
from onair_operator.cluster.watched_kinds import KINDS


class ApiServer:
    """Has projects alone."""

    def __init__(self) -> None:
        self.projects: dict[str, Document] = {}
        self.version = 1_000_000

    async def list(self, api: Api, _: str | None) -> Document:
        items = list(self.projects.values()) if api.plural == "projects" else []
        return {"metadata": {"resourceVersion": str(self.version)}, "items": items}

    async def get(self, api: Api, _: str | None, name: str) -> Document:
        if api.plural != "projects" or name not in self.projects:
            raise ApiError(404, "NotFound", "not found")
        return self.projects[name]


class Setting:
    def __init__(self) -> None:
        self.api, self.store = ApiServer(), Store(KINDS)
        self.changes: list[Change] = []
        self.watch = Watch(cast(Any, self.api), self.store, "shows", self.changes.append, lambda: None)

    @property
    def changed(self) -> list[tuple[str, bool]]:
        """Names of what changed, and whether it is still there; forgotten once read."""
        changed = [(change.entry.name, change.after is not None) for change in self.changes]
        self.changes.clear()
        return changed


@pytest.fixture
def setting() -> Setting:
    return Setting()


def show(name: str = "show") -> Document:
    return document(name, {"collectionId": "sunday"})


def test_an_event_is_reported_once(setting: Setting) -> None:
    new = show()
    for type_ in (None, "ADDED", "MODIFIED"):
        setting.watch.event("Project", type_, new)
    assert setting.changed == [("show", True)]
    for _ in range(2):
        setting.watch.event("Project", "DELETED", new)
    assert setting.changed == [("show", False)]


async def test_a_list_corrects_what_a_watch_missed(setting: Setting) -> None:
    setting.watch.event("Project", "ADDED", show("gone"))
    setting.api.projects["missed"] = show("missed")
    setting.changes.clear()
    assert not setting.watch.synced
    assert await setting.watch.resync() == 2
    assert setting.changed == [("missed", True), ("gone", False)]
    assert setting.watch.synced
    assert await setting.watch.resync() == 0


async def test_an_object_is_read_again_after_a_conflict(setting: Setting) -> None:
    setting.watch.event("Project", "ADDED", show())
    setting.api.projects["show"] = newer = show()
    await setting.watch.refresh("Project", "show")
    entry = setting.store.entry("Project", "show")
    assert entry
    assert entry.document == newer


async def test_a_newer_version_found_after_a_conflict_is_reported_once(setting: Setting) -> None:
    setting.watch.event("Project", "ADDED", show())
    setting.api.projects["show"] = newer = show()
    setting.changes.clear()
    await setting.watch.refresh("Project", "show")
    setting.watch.event("Project", "MODIFIED", newer)
    assert setting.changed == [("show", True)]


async def test_an_object_that_turns_out_to_be_gone_is_reported(setting: Setting) -> None:
    setting.watch.event("Destination", "ADDED", destination_document("main", "show"))
    setting.changes.clear()
    await setting.watch.refresh("Destination", "main")
    assert setting.changed == [("main", False)]
    assert setting.store.entry("Destination", "main") is None
