"""Changes whose parents' watches are behind: who may see them is looked up."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import orjson
import pytest
from tests.support.announcer import AnnouncerWatch, collection, document, project

from onair_api.access.audiences import owner_key, project_key
from onair_api.access.target import Target
from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, LAYOUT, PROJECT, SOURCE
from onair_api.event.changes import announcer, parent_lookup
from onair_api.event.changes.parent_lookup import ParentLookup
from onair_api.event.changes.parents import Parents
from onair_api.event.event import Position
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document

OWNER = owner_key("s", "u")
PLACE = Target("c", "q", "lay")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcer, "PARENT_TIMEOUT_S", 0.01)
    monkeypatch.setattr(announcer, "LOOKUP_S", 0.05)
    monkeypatch.setattr(parent_lookup, "SHORTEST_S", 0.01)
    monkeypatch.setattr(parent_lookup, "PAUSE_S", 0.01)


def layout(version: int, x: int = 0, name: str = "lay", of: str = "q") -> Document:
    layers = [{"id": "a", "type": "text", "x": x}]
    spec: Document = {"projectId": of, "layers": layers}
    made = document(name, version, spec)
    made["metadata"]["ownerReferences"] = [{"kind": PROJECT, "name": of, "uid": of}]
    return made


class ApiServer:
    """Says what objects there are, when it is let; the watches need not have brought them."""

    def __init__(self, *objects: tuple[str, Document]) -> None:
        self._objects = {(kind, each["metadata"]["name"]): Entry(kind, each) for kind, each in objects}
        self.asked: list[tuple[str, str]] = []
        self._is_asked = asyncio.Event()
        self.responds = asyncio.Event()
        self.responds.set()
        self.error: ApiError | None = None

    async def find(self, kind: str, name: str) -> Entry | None:
        self.asked.append((kind, name))
        self._is_asked.set()
        await self.responds.wait()
        if self.error:
            raise self.error
        return self._objects.get((kind, name))

    async def is_asked(self, times: int) -> None:
        async with asyncio.timeout(5):
            while len(self.asked) < times:
                self._is_asked.clear()
                await self._is_asked.wait()


def started(*objects: tuple[str, Document], **listed: list[Document]) -> tuple[AnnouncerWatch, ApiServer]:
    server = ApiServer(*objects)
    watch = AnnouncerWatch(find=server.find)
    watch.start(**listed)
    return watch, server


async def test_a_layout_of_a_project_that_its_watch_did_not_bring_reaches_its_owner_and_guests() -> None:
    watch, server = started((PROJECT, project(12)), (COLLECTION, collection(11)))
    watch.says(LAYOUT, layout(13))
    await watch.arrive(2)
    assert [(each.audiences, each.target) for each in watch.events] == [
        ((OWNER, project_key("s", "q")), PLACE)
    ] * 2
    assert server.asked == [(PROJECT, "q"), (COLLECTION, "c")]
    watch.says(LAYOUT, layout(14, 5))
    assert len(watch.events) == 3, "they are known from now on"
    assert watch.events[2].audiences == (OWNER, project_key("s", "q"))
    assert watch.lost == []


async def test_a_later_change_alone_has_its_parents_looked_up() -> None:
    watch, _ = started((PROJECT, project(12)), Collection=[collection(5)], Layout=[layout(7)])
    watch.says(LAYOUT, layout(13, 5))
    await watch.arrive(1)
    assert watch.events[0].audiences == (OWNER, project_key("s", "q"))


async def test_a_parent_that_was_looked_up_is_announced_once_when_its_watch_brings_it() -> None:
    watch, _ = started((PROJECT, project(12)), (COLLECTION, collection(11)))
    watch.says(DESTINATION, document("d", 13, {"projectId": "q", "address": {}}))
    await watch.arrive(1)
    watch.says(PROJECT, project(12))
    watch.says(COLLECTION, collection(11))
    await watch.arrive(3)
    watch.says(PROJECT, project(14, "changed"))
    assert watch.names() == [
        "DESTINATION_CREATE",
        "COLLECTION_CREATE",
        "PROJECT_CREATE",
        "PROJECT_UPDATE",
    ]


async def test_what_a_watch_says_meanwhile_is_not_undone() -> None:
    former = project(12, uid="former")
    watch, server = started((PROJECT, former), Collection=[collection(5)])
    server.responds.clear()
    watch.says(LAYOUT, layout(13))
    await server.is_asked(1)
    watch.says(PROJECT, project(14, uid="q"))
    server.responds.set()
    await watch.arrive(3)
    watch.events.clear()
    watch.says(DESTINATION, document("d", 15, {"projectId": "q", "address": {}}))
    (event,) = watch.events
    assert event.audiences == (OWNER, project_key("s", "q")), "not the guests of the former"
    watch.says(PROJECT, project(16, uid="q"), deleted=True)
    assert watch.names() == ["DESTINATION_CREATE", "PROJECT_DELETE"]


async def test_what_exists_nowhere_belongs_to_nobody_and_holds_up_nothing() -> None:
    watch, _ = started(Collection=[collection(5)], Project=[project(6)])
    watch.says(LAYOUT, layout(12, name="orphan", of="none"))
    watch.says(LAYOUT, layout(13))
    await watch.arrive(4)
    assert [each.audiences == () for each in watch.events] == [True, True, False, False]
    assert watch.lost == []


@pytest.mark.parametrize("hangs", [False, True])
async def test_where_nobody_can_say_who_may_see_them_events_are_lost_and_others_come(
    monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    monkeypatch.setattr(parent_lookup, "PAUSE_S", 60.0)
    watch, server = started(Collection=[collection(5)], Project=[project(6)])
    server.error = ApiError(503, "ServiceUnavailable", "")
    if hangs:
        server.responds.clear()
    many = 200
    for number in range(many):
        watch.says(LAYOUT, layout(12 + number, name=f"l-{number}", of=f"new-{number}"))
    watch.says(LAYOUT, layout(500))
    await watch.arrive(2)
    assert {each.target.project_id for each in watch.events} == {"q"}
    assert len(watch.lost) == 2 * many
    assert len(server.asked) == 1, "it is not asked for each in vain"
    assert watch.buffer.position(LAYOUT) == Position(500, 1)


async def test_a_lookup_is_tried_again_while_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcer, "LOOKUP_S", 60.0)
    watch, server = started((PROJECT, project(12)), Collection=[collection(5)])
    server.error = ApiError(429, "TooManyRequests", "")
    watch.says(LAYOUT, layout(13))
    await server.is_asked(3)
    server.error = None
    await watch.arrive(2)
    assert watch.lost == []


async def test_a_collection_without_an_owner_is_looked_up_once() -> None:
    nobodys = document("c", 5, {})
    server = ApiServer((COLLECTION, nobodys))
    lookup = ParentLookup(Parents(), server.find)
    assert await lookup.complete(Entry(PROJECT, project(12)), time.monotonic())
    assert server.asked == [(COLLECTION, "c")]


async def test_guests_of_a_project_that_its_watch_did_not_bring_see_its_sources() -> None:
    watch, _ = started(Collection=[collection(5)])
    with_source = project(12)
    with_source["spec"]["sources"] = [{"sourceId": "so"}]
    watch.view.put(PROJECT, with_source)
    source: dict[str, Any] = {"collectionId": "c", "address": {"rtmpPull": {"url": "rtmp://a.example"}}}
    watch.says(SOURCE, document("so", 13, source))
    (event,) = watch.events
    assert "create" in orjson.loads(event.body)["payload"]["source"]
    assert event.audiences == (OWNER, project_key("s", "q"))
