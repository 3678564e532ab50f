"""Events of layers that say more than the difference shows."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from tests.support.announcer import AnnouncerWatch, collection, document, project
from tests.support.settable_clock import SettableClock

from onair_api.cache.watched_kinds import LAYOUT
from onair_api.event.changes import event_details
from onair_api.event.changes.event_details import EventDetails
from onair_api.event.event import Event, Position
from onair_api.writes.request_note import RequestNote, StoredNote
from onair_crds.contract.labels import REQUEST_ANNOTATION
from onair_crds.shapes import Document


class DelayedEventDetails(EventDetails):
    """Stands for Redis, which responds to each lookup when it is let."""

    def __init__(self, **kept: Any) -> None:
        super().__init__(None, lambda: False)
        self._kept = kept
        self.looked_up: list[str] = []
        self.responds = asyncio.Event()

    def may_have(self, note: StoredNote) -> bool:
        return note.may_have_details

    async def find(self, nonce: str) -> Any:
        self.looked_up.append(nonce)
        await self.responds.wait()
        return self._kept.get(nonce)


def layout(version: int, x: int, note: RequestNote | None = None) -> Document:
    layers = [{"id": "a", "type": "text", "x": x}]
    made = document("lay", version, {"projectId": "q", "layers": layers}, note=note)
    made["metadata"]["generation"] = max(1, version - 10)
    return made


def layout_watch(details: EventDetails) -> AnnouncerWatch:
    watch = AnnouncerWatch(details)
    watch.start(Collection=[collection(5)], Project=[project(6)], Layout=[layout(7, 0)])
    return watch


def layer_of(event: Event) -> Any:
    return orjson.loads(event.body)["payload"]["layer"]["update"]


async def test_a_plain_layer_update_waits_for_no_details() -> None:
    details = DelayedEventDetails()
    watch = layout_watch(details)
    watch.says(LAYOUT, layout(11, 1, RequestNote("s1", nonce="n1")))
    watch.says(LAYOUT, layout(12, 2))
    assert [layer_of(event)["x"] for event in watch.events] == [1, 2]
    assert details.looked_up == []


async def test_details_that_the_note_announces_are_in_the_event() -> None:
    details = DelayedEventDetails(n1={"update": {"id": "a", "x": 1, "requestAnimation": [{"durationMs": 5}]}})
    watch = layout_watch(details)
    watch.says(LAYOUT, layout(11, 1, RequestNote("s1", nonce="n1", has_details=True)))
    watch.says(LAYOUT, layout(12, 2, RequestNote("s1", nonce="n2")))
    assert watch.events == [], "also what comes after it waits: order holds"
    details.responds.set()
    await watch.arrive(2)
    assert layer_of(watch.events[0])["requestAnimation"] == [{"durationMs": 5}]
    assert layer_of(watch.events[1])["x"] == 2
    assert details.looked_up == ["n1"]


async def test_details_of_another_version_that_did_not_announce_them_are_looked_up() -> None:
    details = DelayedEventDetails(n1={"update": {"id": "a", "x": 1, "requestAnimation": [{"durationMs": 5}]}})
    details.responds.set()
    watch = layout_watch(details)
    older = layout(11, 1)
    older["metadata"]["annotations"] = {REQUEST_ANNOTATION: '{"nonce":"n1","sessionId":"s1"}'}
    watch.says(LAYOUT, older)
    await watch.arrive(1)
    assert layer_of(watch.events[0])["requestAnimation"] == [{"durationMs": 5}]
    assert watch.events[0].session_id == "s1"


def stored(nonce: str) -> StoredNote:
    """The note of a write whose details are not in Redis."""
    return StoredNote(nonce, None, None, may_have_details=False)


async def test_what_this_replica_wrote_is_found_without_redis_once() -> None:
    details = EventDetails(None, lambda: False)
    assert not details.may_have(stored("n1"))
    assert not await details.keep("n1", {"batch": {"layers": []}}, "s"), "no other replica finds them"
    assert details.may_have(stored("n1"))
    assert await details.find("n1") == {"batch": {"layers": []}}
    assert not details.may_have(stored("n1")), "nothing is left of it"
    assert await details.find("n1") is None


class SilentValues:
    """Stands for a Redis that takes commands and never replies."""

    async def put(self, *_: object) -> None:
        await asyncio.Event().wait()

    async def get(self, _: str) -> None: ...


async def test_a_write_does_not_wait_for_a_redis_that_is_silent() -> None:
    details = EventDetails(SilentValues(), lambda: True)
    async with asyncio.timeout(5):
        assert not await details.keep("n1", {"batch": {}}, "s")
    assert await details.find("n1") == {"batch": {}}


class RecordedValues:
    """Stands for Redis."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, bytes]] = {}
        """By name the service that each counts for, and the value."""

    async def put(self, name: str, value: bytes, life_s: int, service_id: str) -> None:
        self.kept[name] = service_id, value

    async def get(self, name: str) -> bytes | None:
        return self.kept[name][1] if name in self.kept else None


async def test_large_details_are_for_this_replica_alone() -> None:
    values = RecordedValues()
    details, other = (EventDetails(values, lambda: True) for _ in range(2))
    large = {"batch": {"layers": ["x" * event_details.SHARED_BYTES]}}
    assert not await details.keep("large", large, "s"), "so other replicas do not look for them"
    assert await details.keep("small", {"batch": {"layers": []}}, "s")
    assert {name: service for name, (service, _) in values.kept.items()} == {"small": "s"}
    assert await details.find("large") == large
    assert await other.find("small") == {"batch": {"layers": []}}
    assert await other.find("large") is None


async def test_what_was_not_written_is_forgotten() -> None:
    clock = SettableClock(100.0)
    details = EventDetails(None, lambda: False, clock)
    for nonce in ("refused", "never seen"):
        await details.keep(nonce, {"update": {}}, "s")
    details.forget("refused")
    clock.now += event_details.KEEP_S - 1
    assert [nonce for nonce in ("refused", "never seen") if details.may_have(stored(nonce))] == ["never seen"]
    clock.now += 1
    assert not details.may_have(stored("never seen"))


async def test_replicas_that_announce_a_batch_differently_agree_on_where_it_ends() -> None:
    """So a session that moves from one to the other misses nothing, and gets nothing twice."""
    details = EventDetails(None, lambda: False)
    await details.keep("n1", {"batch": {"layers": []}}, "s")
    wrote, other = layout_watch(details), layout_watch(EventDetails(None, lambda: False))
    for watch in (wrote, other):
        layers = [{"id": id_, "type": "text"} for id_ in ("b", "c")]
        note = RequestNote("s1", nonce="n1")
        watch.says(LAYOUT, document("lay", 11, {"projectId": "q", "width": 5, "layers": layers}, note=note))
    await wrote.arrive(2)
    assert [event.name.rpartition(":")[2] for event in wrote.events] == [
        "EVENT_SUB_TYPE_UPDATE",
        "EVENT_SUB_TYPE_BATCH",
    ]
    assert len(other.events) == 4, "the layout, two new layers, and the one that is gone"
    assert wrote.events[0].position == other.events[0].position
    assert wrote.events[1].position == other.events[3].position
    assert wrote.buffer.position(LAYOUT) == other.buffer.position(LAYOUT)


def of_generation(number: int, version: int, layers: list[Document], note: RequestNote) -> Document:
    made = document("lay", version, {"projectId": "q", "layers": layers}, note=note)
    made["metadata"]["generation"] = number
    return made


async def test_a_list_after_a_broken_watch_announces_more_than_the_batch_that_was_last() -> None:
    """Others moved a layer, before a batch of this replica or after it."""
    details = EventDetails(None, lambda: False)
    watch = layout_watch(details)
    layers: list[Document] = [{"id": "a", "type": "text", "x": 9}, {"id": "b", "type": "text"}]
    batch = {"layers": [{"create": {"id": "b"}}], "layoutId": "lay"}
    await details.keep("n1", {"batch": batch}, "s")
    watch.announcer.listed(LAYOUT, [of_generation(3, 13, layers, RequestNote("s1", {"why": 1}, "n1"))], 20)
    await watch.arrive(2)
    first, update = watch.events
    assert orjson.loads(first.body)["payload"]["layer"]["batch"] == batch
    assert (first.session_id, first.position) == ("s1", Position(13, 0))
    assert (layer_of(update)["x"], update.position) == (9, Position(13, 1))
    assert update.session_id is None, "the session of the batch did not do that"
    assert "requestMetadata" not in orjson.loads(update.body)
    await details.keep("n2", {"batch": batch}, "s")
    watch.announcer.listed(LAYOUT, [of_generation(4, 14, layers[1:], RequestNote("s1", nonce="n2"))], 30)
    await watch.arrive(3)
    assert watch.events[2].name.endswith("BATCH"), "there was nothing else this time"
    assert len(watch.events) == 3


async def test_only_the_newest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_details, "OWN_BYTES", 100)
    details = EventDetails(None, lambda: False)
    texts = {"n1": "x" * 60, "n2": "y" * 60, "n3": "larger than all that is remembered" * 4, "n4": 2**70}
    for nonce, text in texts.items():
        await details.keep(nonce, {"update": text}, "s")
    assert [nonce for nonce in texts if details.may_have(stored(nonce))] == ["n2"]
    assert await details.find("n2") == {"update": texts["n2"]}
