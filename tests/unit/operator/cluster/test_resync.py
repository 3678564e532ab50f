"""Lists correct what watches missed; a watch that stays silent about it is dead, one that is late is not."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from tests.support.documents import destination_document, document
from tests.support.waiting import until

from onair_crds.kube.apis import Api
from onair_crds.kube.client import METADATA_LIST
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Change, Store
from onair_crds.shapes import Document
from onair_operator.cluster.resync import Resync, silent_kinds
from onair_operator.cluster.watch import Watch
from onair_operator.cluster.watched_kinds import KINDS


class ProjectListApiServer:
    """Has projects alone, of which a test may add one with every list."""

    def __init__(self) -> None:
        self.projects: dict[str, Document] = {}
        self.layouts: dict[str, Document] = {}
        self.queries: dict[str, dict[str, str]] = {}
        self.accepted: dict[str, str] = {}
        self.lists = 0
        """Of projects."""
        self.grows = False
        self.forbidden: tuple[str, ...] = ()
        self.version = 1_000_000

    async def pages(self, api: Api, _: str | None, accept: str = "", **query: str) -> AsyncIterator[Document]:
        self.accepted[api.plural] = accept
        self.queries[api.plural] = query
        if api.plural in self.forbidden:
            raise ApiError(403, "Forbidden", f"{api.plural} is forbidden")
        if api.plural == "projects":
            self.lists += 1
            if self.grows:
                self.projects[f"show-{self.lists}"] = show(f"show-{self.lists}")
        named = {"projects": self.projects, "layouts": self.layouts}.get(api.plural, {})
        items = copy.deepcopy(list(named.values()))
        if accept == METADATA_LIST:
            items = [{"metadata": each["metadata"]} for each in items]
        yield {"metadata": {"resourceVersion": str(self.version)}, "items": items}

    async def get(self, api: Api, _: str | None, name: str) -> Document:
        if api.plural != "projects" or name not in self.projects:
            raise ApiError(404, "NotFound", "not found")
        return self.projects[name]


class ResyncSetting:
    def __init__(self) -> None:
        self.api, self.store = ProjectListApiServer(), Store(KINDS)
        self.changes: list[Change] = []
        self.leading = True
        client, changed = cast(Any, self.api), self.changes.append
        self.resync = Resync(client, self.store, "shows", changed, lambda: self.leading, echo_s=0.01)
        self.watch = Watch(client, self.store, "shows", changed, lambda: None, self.resync)

    @property
    def changed(self) -> list[tuple[str, bool]]:
        """Names of what changed, and whether it is still there; forgotten once read."""
        changed = [(change.entry.name, change.after is not None) for change in self.changes]
        self.changes.clear()
        return changed

    async def lists(self, number: int, audit: asyncio.Task[None]) -> None:
        """Waits until so many more lists were made."""
        wanted = self.api.lists + number
        await until(lambda: self.api.lists >= wanted or audit.done(), f"{number} more lists", 10, poll_s=0)


@pytest.fixture
def setting() -> ResyncSetting:
    return ResyncSetting()


def show(name: str = "show") -> Document:
    return document(name, {"collectionId": "sunday"})


async def test_a_list_corrects_what_a_watch_missed(setting: ResyncSetting) -> None:
    setting.watch.event("Project", "ADDED", show("gone"))
    setting.api.projects["missed"] = show("missed")
    setting.changes.clear()
    assert not setting.resync.synced
    assert set(await setting.resync.list_all()) == {"Project"}
    assert setting.changed == [("missed", True), ("gone", False)]
    assert setting.resync.synced
    assert await setting.resync.list_all() == {}


async def test_what_may_be_listed_is_where_the_rest_is_forbidden(setting: ResyncSetting) -> None:
    """As where a namespace is being deleted, whose Roles went first."""
    setting.api.projects["missed"] = show("missed")
    setting.api.forbidden = ("collections", "pods", "secrets")
    with pytest.raises(ApiError, match="secrets is forbidden"):
        await setting.resync.list_all()
    assert setting.changed == [("missed", True)]
    assert not setting.resync.synced


async def test_secrets_that_nothing_may_refer_to_are_not_listed(setting: ResyncSetting) -> None:
    await setting.resync.list_all()
    selector = setting.api.queries["secrets"]["fieldSelector"]
    assert "type!=onair.dev/revoked-token" in selector
    assert setting.api.queries["projects"] == {}


async def test_of_nodes_the_metadata_alone_is_listed(setting: ResyncSetting) -> None:
    await setting.resync.list_all()
    metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    assert {kind for kind, accept in setting.api.accepted.items() if accept == metadata} == {"nodes"}


@pytest.fixture
async def listed_layouts(setting: ResyncSetting) -> ResyncSetting:
    """Two layouts that were listed."""
    setting.api.layouts = {name: document(name, {"projectId": "show"}) for name in ("a", "b")}
    await setting.resync.list_all()
    assert setting.changed == [("a", True), ("b", True)]
    assert setting.api.accepted["layouts"] != METADATA_LIST
    return setting


async def test_layouts_that_are_as_known_are_not_listed_whole_again(listed_layouts: ResyncSetting) -> None:
    setting = listed_layouts
    newer = document("a", {"projectId": "show"})
    setting.watch.event("Layout", "MODIFIED", copy.deepcopy(newer))
    setting.changes.clear()
    for ahead in (True, False):
        assert await setting.resync.list_all() == {}, f"the watch is ahead of the list: {ahead}"
        assert setting.api.accepted["layouts"] == METADATA_LIST
        assert setting.changed == []
        setting.api.layouts["a"] = newer


@pytest.mark.parametrize("missed", ["newer", "new", "gone", "another", "restored"])
async def test_layouts_of_which_a_watch_missed_something_are_listed_whole(
    listed_layouts: ResyncSetting, missed: str
) -> None:
    setting, layouts = listed_layouts, listed_layouts.api.layouts
    later = document("c" if missed == "new" else "b", {"projectId": "show"})
    if missed == "gone":
        del layouts["b"]
    elif missed == "restored":
        setting.watch.event("Layout", "MODIFIED", later)
        setting.changes.clear()
        setting.api.version -= 1
    else:
        later["metadata"]["uid"] = "another" if missed == "another" else later["metadata"]["uid"]
        layouts[later["metadata"]["name"]] = later
    await setting.resync.list_all()
    assert setting.api.accepted["layouts"] != METADATA_LIST
    found = {each.name: each.version for each in setting.store.entries("Layout")}
    assert found == {name: int(each["metadata"]["resourceVersion"]) for name, each in layouts.items()}
    assert setting.changed


async def test_a_watch_that_brings_what_lists_find_a_little_later_is_alive(setting: ResyncSetting) -> None:
    """As under load: each list finds something that its watch is about to bring."""
    setting.api.grows = True
    audit = asyncio.create_task(setting.resync.audit(0.0))
    for _ in range(5):
        await setting.lists(1, audit)
        setting.watch.event("Project", "ADDED", list(setting.api.projects.values())[-1])
    assert not audit.done()
    audit.cancel()


async def test_a_watch_that_never_brings_what_lists_find_is_dead(setting: ResyncSetting) -> None:
    setting.api.grows = True
    async with asyncio.timeout(10):
        await setting.resync.audit(0.0)
    assert setting.api.lists == 2  # at the start there is no watch yet


async def test_a_deletion_that_a_list_finds_proves_nothing(setting: ResyncSetting) -> None:
    audit = asyncio.create_task(setting.resync.audit(0.0))
    await setting.lists(1, audit)
    for number in range(3):
        setting.store.update("Project", show(f"gone-{number}"))
        await setting.lists(2, audit)
        assert setting.store.entries("Project") == []
    assert not audit.done()
    audit.cancel()


async def restore(setting: ResyncSetting) -> None:
    """Puts the API server's data back to before one show was edited and another was made."""
    await setting.resync.list_all()
    former = show()
    setting.watch.event("Project", "ADDED", show())
    setting.watch.event("Project", "ADDED", show("made-since"))
    setting.api.projects["show"] = former
    setting.api.version -= 1
    setting.changes.clear()


async def test_what_was_restored_replaces_what_was_newer(setting: ResyncSetting) -> None:
    await restore(setting)
    assert set(await setting.resync.list_all()) == {"Project"}
    assert setting.changed == [("show", True), ("made-since", False)]
    entry = setting.store.entry("Project", "show")
    assert entry
    assert entry.document == setting.api.projects["show"]
    assert await setting.resync.list_all() == {}


@pytest.mark.parametrize("leading", [True, False])
async def test_watches_are_started_again_after_a_restore_without_a_wait(
    setting: ResyncSetting, *, leading: bool
) -> None:
    """Whoever leads finds it by the audit; a standby does so by the list with which it begins to lead."""
    setting.leading = leading
    setting.resync._echo_s = 3600.0
    audit = asyncio.create_task(setting.resync.audit(0.0 if leading else 3600.0))
    await setting.lists(1, audit)
    await restore(setting)
    if not leading:
        await setting.resync.list_all()
    async with asyncio.timeout(10):
        await audit


async def test_a_standby_lists_once_until_it_leads(setting: ResyncSetting) -> None:
    setting.leading = False
    audit = asyncio.create_task(setting.resync.audit(0.0))
    await setting.lists(1, audit)
    for _ in range(100):
        await asyncio.sleep(0)
    assert setting.api.lists == 1
    setting.leading = True
    await setting.lists(1, audit)
    assert setting.api.lists == 2
    audit.cancel()


def test_a_kind_is_silent_if_it_was_not_heard_since_its_list_began() -> None:
    assert silent_kinds({}, {}) == set()
    assert silent_kinds({"Pod": 10.0, "Node": 10.0, "Secret": 10.0}, {"Pod": 10.1, "Node": 9.9}) == {
        "Node",
        "Secret",
    }


async def test_an_object_is_read_again_after_a_conflict(setting: ResyncSetting) -> None:
    setting.watch.event("Project", "ADDED", show())
    setting.api.projects["show"] = newer = show()
    await setting.resync.refresh("Project", "show")
    entry = setting.store.entry("Project", "show")
    assert entry
    assert entry.document == newer


async def test_a_newer_version_found_after_a_conflict_is_reported_once(setting: ResyncSetting) -> None:
    setting.watch.event("Project", "ADDED", show())
    setting.api.projects["show"] = newer = show()
    setting.changes.clear()
    await setting.resync.refresh("Project", "show")
    setting.watch.event("Project", "MODIFIED", newer)
    assert setting.changed == [("show", True)]


async def test_what_a_conflict_finds_restored_is_taken(setting: ResyncSetting) -> None:
    await restore(setting)
    await setting.resync.refresh("Project", "show")
    assert setting.changed == [("show", True)]


async def test_an_object_that_turns_out_to_be_gone_is_reported(setting: ResyncSetting) -> None:
    setting.watch.event("Destination", "ADDED", destination_document("main", "show"))
    setting.changes.clear()
    await setting.resync.refresh("Destination", "main")
    assert setting.changed == [("main", False)]
    assert setting.store.entry("Destination", "main") is None
