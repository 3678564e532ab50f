"""Resource-change events: differences between what the watch says and what it said before."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from onair_api.cache.view import View
from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, LAYOUT, PROJECT
from onair_api.event.changes.announcer import KINDS, ChangeAnnouncer
from onair_api.event.changes.event_details import EventDetails
from onair_api.event.event import Event
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.live.project.record import ProjectRecords
from onair_api.live.source.record import SourceRecords
from onair_api.writes.request_note import RequestNote
from onair_crds.contract.ingest import Ingest
from onair_crds.contract.labels import REQUEST_ANNOTATION
from onair_crds.shapes import Document

OWNER = {"serviceId": "s", "serviceUserId": "u"}


class Watch:
    """The facade's end of the watches, and the events that it delivered."""

    def __init__(self, details: EventDetails | None = None) -> None:
        self.view = View()
        self.events: list[Event] = []
        self._arrived = asyncio.Event()
        self.buffer = ReplayBuffer(60, 1000, 1_000_000)
        nothing: Any = None  # public records need neither Secrets nor guest codes
        records = ProjectRecords(
            self.view,
            nothing,
            nothing,
            SourceRecords(nothing, lambda: Ingest("rtmp://i.example/live", "srt://i.example")),
        )
        details = details or EventDetails(None, lambda: False)
        self.announcer = ChangeAnnouncer(records, "p", details, self.buffer, self._deliver)

    def start(self, **listed: list[Document]) -> None:
        for kind in KINDS:
            self.announcer.listed(kind, listed.get(kind, []), 10)

    def says(self, kind: str, document: Document, *, deleted: bool = False) -> None:
        if deleted:
            self.view.remove(kind, document["metadata"]["name"], document["metadata"]["uid"])
        else:
            self.view.put(kind, document)
        self.announcer.changed(kind, document, deleted=deleted)

    def names(self) -> list[str]:
        """The names since the last call, without what all have."""
        names = [
            event.name.removeprefix("p:live:EVENT_TYPE_").replace(":EVENT_SUB_TYPE", "")
            for event in self.events
        ]
        self.events.clear()
        return names

    def _deliver(self, event: Event) -> None:
        self.buffer.add(event, 0.0)
        self.events.append(event)
        self._arrived.set()

    async def arrive(self, count: int) -> None:
        """Returns when so many events were delivered."""
        async with asyncio.timeout(5):
            while len(self.events) < count:
                self._arrived.clear()
                await self._arrived.wait()


def document(
    name: str, version: int, spec: Document, uid: str = "", note: RequestNote | None = None
) -> Document:
    metadata: Document = {"name": name, "uid": uid or name, "resourceVersion": str(version)}
    if note:
        metadata["annotations"] = note.annotations()
    return {"metadata": metadata, "spec": spec}


def collection(version: int, value: Any = None, name: str = "c", **more: Any) -> Document:
    return document(name, version, {"owner": OWNER, "metadata": value}, **more)


def project(version: int, value: Any = None, name: str = "q", **more: Any) -> Document:
    return document(name, version, {"collectionId": "c", "metadata": value}, **more)


def test_the_first_list_announces_nothing() -> None:
    watch = Watch()
    watch.start(Collection=[collection(5)])
    assert watch.names() == []
    watch.says(COLLECTION, collection(11, "new"))
    assert watch.names() == ["COLLECTION_UPDATE"]


def test_a_list_after_a_broken_watch_announces_the_differences() -> None:
    watch = Watch()
    watch.start(Collection=[collection(5, name=name) for name in ("same", "changed", "gone", "reborn")])
    watch.announcer.listed(
        COLLECTION,
        [
            collection(5, name="same"),
            collection(12, 1, name="changed"),
            collection(13, name="new"),
            collection(14, name="reborn", uid="another"),
        ],
        20,
    )
    assert watch.names() == [
        "COLLECTION_UPDATE",
        "COLLECTION_CREATE",
        "COLLECTION_DELETE",
        "COLLECTION_CREATE",
        "COLLECTION_DELETE",
    ]


def test_an_older_version_is_not_announced_again() -> None:
    watch = Watch()
    watch.start()
    for version in (11, 12, 11, 12):
        watch.says(COLLECTION, collection(version, version))
    assert watch.names() == ["COLLECTION_CREATE", "COLLECTION_UPDATE"]


def test_every_replica_gives_an_event_the_same_id() -> None:
    ids = []
    for _ in range(2):
        watch = Watch()
        watch.start()
        watch.says(COLLECTION, collection(11))
        watch.says(COLLECTION, collection(12, 1))
        watch.says(COLLECTION, collection(13, 1), deleted=True)
        ids.append([orjson.loads(event.body)["id"] for event in watch.events])
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 3


def test_a_deletion_is_the_same_event_when_only_a_list_shows_it() -> None:
    one, two = Watch(), Watch()
    for watch in (one, two):
        watch.start(Collection=[collection(5)])
    one.says(COLLECTION, collection(12), deleted=True)
    two.announcer.listed(COLLECTION, [], 30)
    assert one.events[0].body == two.events[0].body


def test_a_request_is_named_by_the_event_of_its_own_change_alone() -> None:
    watch = Watch()
    watch.start()
    first, second = RequestNote("s1", {"a": 1}), RequestNote("s2", {"b": 2})
    made = collection(11, 1, note=first)
    watch.says(COLLECTION, made)
    by_hand = collection(12, 2)
    by_hand["metadata"]["annotations"] = made["metadata"]["annotations"]
    watch.says(COLLECTION, by_hand)
    watch.says(COLLECTION, collection(13, 3, note=second))
    assert [event.session_id for event in watch.events] == ["s1", None, "s2"]
    assert [orjson.loads(event.body).get("requestMetadata") for event in watch.events] == [
        {"a": 1},
        None,
        {"b": 2},
    ]


def test_the_note_before_a_deletion_is_the_deletions() -> None:
    watch = Watch()
    watch.start(Collection=[collection(5)])
    noted = collection(11, note=RequestNote("s1"))
    watch.says(COLLECTION, noted)
    last = {**noted, "metadata": {**noted["metadata"], "resourceVersion": "12"}}
    watch.says(COLLECTION, last, deleted=True)
    assert [(event.name[-6:], event.session_id) for event in watch.events] == [("DELETE", "s1")]


def test_a_manual_deletion_does_not_name_an_earlier_request() -> None:
    watch = Watch()
    watch.start(Collection=[collection(5)])
    changed = collection(11, 1, note=RequestNote("s1"))
    watch.says(COLLECTION, changed)
    watch.says(
        COLLECTION, {**changed, "metadata": {**changed["metadata"], "resourceVersion": "12"}}, deleted=True
    )
    assert [event.session_id for event in watch.events] == ["s1", None]


def test_an_invalid_note_names_no_request() -> None:
    watch = Watch()
    watch.start()
    for version, text in enumerate(("{", "[]", '{"nonce": 1}', '{"nonce":"n","sessionId":5}'), 11):
        broken = collection(version, version)
        broken["metadata"]["annotations"] = {REQUEST_ANNOTATION: text}
        watch.says(COLLECTION, broken)
    assert [event.session_id for event in watch.events] == [None] * 4


def test_a_deletion_is_announced_once_when_it_begins() -> None:
    watch = Watch()
    watch.start(Project=[project(5)], Collection=[collection(5)])
    going = project(11)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    watch.says(PROJECT, going)
    assert watch.names() == ["PROJECT_DELETE"]
    watch.says(PROJECT, {**going, "metadata": {**going["metadata"], "resourceVersion": "12"}}, deleted=True)
    assert watch.names() == []


async def test_a_child_waits_for_its_parent() -> None:
    watch = Watch()
    watch.start()
    destination = document("d", 13, {"projectId": "q", "address": {"rtmpPush": {"url": "rtmp://a.example"}}})
    watch.says(DESTINATION, destination)
    watch.says(
        DESTINATION,
        {
            **destination,
            "metadata": {**destination["metadata"], "resourceVersion": "14"},
            "spec": {**destination["spec"], "metadata": 1},
        },
    )
    watch.says(PROJECT, project(12))
    assert watch.names() == []
    watch.says(COLLECTION, collection(11))
    await watch.arrive(4)
    assert watch.names() == [
        "COLLECTION_CREATE",
        "PROJECT_CREATE",
        "DESTINATION_CREATE",
        "DESTINATION_UPDATE",
    ]


async def test_an_orphan_waits_no_longer_than_watches_are_apart() -> None:
    watch = Watch()
    watch.start()
    watch.says(PROJECT, project(12))
    await watch.arrive(1)
    assert watch.names() == ["PROJECT_CREATE"]
    assert watch.buffer.position(PROJECT) == (12, 0)


class Details(EventDetails):
    """Stands for Redis, which responds to each lookup when it is let."""

    def __init__(self, **kept: Any) -> None:
        super().__init__(None, lambda: False)
        self._kept = kept
        self.looked_up: list[str] = []
        self.responds = asyncio.Event()

    @property
    def available(self) -> bool:
        return True

    async def find(self, nonce: str) -> Any:
        self.looked_up.append(nonce)
        await self.responds.wait()
        return self._kept.get(nonce)


def layout(version: int, x: int, note: RequestNote | None = None) -> Document:
    layers = [{"id": "a", "type": "text", "x": x}]
    return document("lay", version, {"projectId": "q", "layers": layers}, note=note)


def layout_watch(details: Details) -> Watch:
    watch = Watch(details)
    watch.start(Collection=[collection(5)], Project=[project(6)], Layout=[layout(7, 0)])
    return watch


def layer_of(event: Event) -> Any:
    return orjson.loads(event.body)["payload"]["layer"]["update"]


async def test_a_plain_layer_update_waits_for_no_details() -> None:
    details = Details()
    watch = layout_watch(details)
    watch.says(LAYOUT, layout(11, 1, RequestNote("s1", nonce="n1")))
    watch.says(LAYOUT, layout(12, 2))
    assert [layer_of(event)["x"] for event in watch.events] == [1, 2]
    assert details.looked_up == []


async def test_details_that_the_note_announces_are_in_the_event() -> None:
    details = Details(n1={"update": {"id": "a", "x": 1, "requestAnimation": [{"durationMs": 5}]}})
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
    details = Details(n1={"update": {"id": "a", "x": 1, "requestAnimation": [{"durationMs": 5}]}})
    details.responds.set()
    watch = layout_watch(details)
    older = layout(11, 1)
    older["metadata"]["annotations"] = {REQUEST_ANNOTATION: '{"nonce":"n1","sessionId":"s1"}'}
    watch.says(LAYOUT, older)
    await watch.arrive(1)
    assert layer_of(watch.events[0])["requestAnimation"] == [{"durationMs": 5}]
    assert watch.events[0].session_id == "s1"


STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(("put", "delete", "relist")), st.integers(0, 3)),
    max_size=25,
)


@settings(deadline=None)
@given(STEPS)
def test_a_subscriber_ends_up_with_what_the_cluster_has(steps: list[tuple[str, str, int]]) -> None:
    """Also when watches are lost: the events alone rebuild the cluster's state."""
    watch = Watch()
    watch.start()
    cluster: dict[str, Document] = {}
    unseen = False
    for version, (name, step, value) in enumerate(steps, 11):
        if step == "relist":
            watch.announcer.listed(COLLECTION, list(cluster.values()), version)
            unseen = False
        elif step == "put":
            uid = cluster[name]["metadata"]["uid"] if name in cluster else f"{name}-{version}"
            cluster[name] = collection(version, value, name=name, uid=uid)
            unseen = unseen or value == 3
            if not unseen:
                watch.says(COLLECTION, cluster[name])
        elif name in cluster:
            gone = cluster.pop(name)
            if not unseen:
                watch.says(
                    COLLECTION,
                    {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(version)}},
                    deleted=True,
                )
    watch.announcer.listed(COLLECTION, list(cluster.values()), 100)
    seen: dict[str, Any] = {}
    for event in watch.events:
        ((sub_type, record),) = orjson.loads(event.body)["payload"]["collection"].items()
        if sub_type == "delete":
            del seen[record["collectionId"]]
        else:
            assert (sub_type == "create") == (record["collectionId"] not in seen)
            seen[record["collectionId"]] = record["collection"]["metadata"]
    assert seen == {name: each["spec"]["metadata"] for name, each in cluster.items()}
