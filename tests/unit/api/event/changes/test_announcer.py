"""Resource-change events: differences between what the watch says and what it said before."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.announcer import AnnouncerWatch, collection, document, project
from tests.support.documents import destination_document

from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, PROJECT
from onair_api.event.event import Position
from onair_api.event.replay.recent_events import DELAY_S
from onair_api.live.project.record import ProjectRecords
from onair_api.writes.request_note import RequestNote
from onair_crds.contract.labels import REQUEST_ANNOTATION
from onair_crds.runtime import steps
from onair_crds.shapes import Document


def test_the_first_list_announces_nothing() -> None:
    watch = AnnouncerWatch()
    watch.start(Collection=[collection(5)])
    assert watch.names() == []
    watch.says(COLLECTION, collection(11, "new"))
    assert watch.names() == ["COLLECTION_UPDATE"]


def test_a_list_after_a_broken_watch_announces_the_differences() -> None:
    watch = AnnouncerWatch()
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


def test_who_closes_after_the_first_list_has_missed_nothing_before_it() -> None:
    watch = AnnouncerWatch()
    watch.start()
    assert not watch.buffer.covers(COLLECTION, Position(5), time.monotonic())
    assert watch.buffer.covers(COLLECTION, Position(5), time.monotonic() + DELAY_S)


def test_what_was_restored_is_announced_and_whoever_returns_has_missed_something() -> None:
    watch = AnnouncerWatch()
    watch.start(Collection=[collection(5, name=name) for name in ("same", "undone", "deleted")])
    watch.says(COLLECTION, collection(90, 1, name="undone"))
    watch.says(COLLECTION, collection(91, name="made"))
    watch.says(COLLECTION, collection(92, name="deleted"), deleted=True)
    watch.names()
    listed = [collection(5, name=name) for name in ("same", "undone", "deleted")]
    watch.announcer.listed(COLLECTION, listed, 50)
    assert watch.names() == ["COLLECTION_UPDATE", "COLLECTION_CREATE", "COLLECTION_DELETE"]
    assert watch.announcer.announced(COLLECTION) == Position(50)
    assert not watch.buffer.covers(COLLECTION, Position(92), time.monotonic() + 60)
    watch.says(COLLECTION, collection(51, 2, name="undone"))
    assert watch.names() == ["COLLECTION_UPDATE"]


def test_an_older_version_is_not_announced_again() -> None:
    watch = AnnouncerWatch()
    watch.start()
    for version in (11, 12, 11, 12):
        watch.says(COLLECTION, collection(version, version))
    assert watch.names() == ["COLLECTION_CREATE", "COLLECTION_UPDATE"]


def test_every_replica_gives_an_event_the_same_id() -> None:
    ids = []
    for _ in range(2):
        watch = AnnouncerWatch()
        watch.start()
        watch.says(COLLECTION, collection(11))
        watch.says(COLLECTION, collection(12, 1))
        watch.says(COLLECTION, collection(13, 1), deleted=True)
        ids.append([orjson.loads(event.body)["id"] for event in watch.events])
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 3


def test_a_deletion_is_the_same_event_when_only_a_list_shows_it() -> None:
    one, two = AnnouncerWatch(), AnnouncerWatch()
    for watch in (one, two):
        watch.start(Collection=[collection(5)])
    one.says(COLLECTION, collection(12), deleted=True)
    two.announcer.listed(COLLECTION, [], 30)
    assert one.events[0].body == two.events[0].body


def test_a_request_is_named_by_the_event_of_its_own_change_alone() -> None:
    watch = AnnouncerWatch()
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
    watch = AnnouncerWatch()
    watch.start(Collection=[collection(5)])
    noted = collection(11, note=RequestNote("s1"))
    watch.says(COLLECTION, noted)
    last = {**noted, "metadata": {**noted["metadata"], "resourceVersion": "12"}}
    watch.says(COLLECTION, last, deleted=True)
    assert [(event.name[-6:], event.session_id) for event in watch.events] == [("DELETE", "s1")]


def test_a_manual_deletion_does_not_name_an_earlier_request() -> None:
    watch = AnnouncerWatch()
    watch.start(Collection=[collection(5)])
    changed = collection(11, 1, note=RequestNote("s1"))
    watch.says(COLLECTION, changed)
    watch.says(
        COLLECTION, {**changed, "metadata": {**changed["metadata"], "resourceVersion": "12"}}, deleted=True
    )
    assert [event.session_id for event in watch.events] == ["s1", None]


def test_an_invalid_note_names_no_request() -> None:
    watch = AnnouncerWatch()
    watch.start()
    for version, text in enumerate(("{", "[]", '{"nonce": 1}', '{"nonce":"n","sessionId":5}'), 11):
        broken = collection(version, version)
        broken["metadata"]["annotations"] = {REQUEST_ANNOTATION: text}
        watch.says(COLLECTION, broken)
    assert [event.session_id for event in watch.events] == [None] * 4


def test_a_deletion_is_announced_once_when_it_begins() -> None:
    watch = AnnouncerWatch()
    watch.start(Project=[project(5)], Collection=[collection(5)])
    going = project(11)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    watch.says(PROJECT, going)
    assert watch.names() == ["PROJECT_DELETE"]
    watch.says(PROJECT, {**going, "metadata": {**going["metadata"], "resourceVersion": "12"}}, deleted=True)
    assert watch.names() == []


async def test_a_child_waits_for_its_parent() -> None:
    watch = AnnouncerWatch()
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
    watch = AnnouncerWatch()
    watch.start()
    watch.says(PROJECT, project(12))
    await watch.arrive(1)
    assert watch.names() == ["PROJECT_CREATE"]
    assert watch.buffer.position(PROJECT) == (12, 0)


STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(("put", "delete", "relist")), st.integers(0, 3)),
    max_size=25,
)


@settings(deadline=None)
@given(STEPS)
def test_a_subscriber_ends_up_with_what_the_cluster_has(steps: list[tuple[str, str, int]]) -> None:
    """Also when watches are lost: the events alone rebuild the cluster's state."""
    watch = AnnouncerWatch()
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


async def test_a_project_of_thousands_of_destinations_is_announced_in_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "STEP_S", -1.0)  # gives way after each
    watch = AnnouncerWatch()
    watch.start(Collection=[collection(1)], Project=[project(2)])
    number, version = 2000, 100
    for each in range(number):
        watch.view.put(DESTINATION, destination_document(f"d-{each}", "q", resourceVersion="3"))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    busy = asyncio.create_task(others())
    watch.says(PROJECT, project(version, "changed"))
    assert watch.events == [], "it was not made at once"
    await watch.arrive(1)
    busy.cancel()
    assert turns >= number
    (event,) = watch.events
    shown = orjson.loads(event.body)["payload"]["project"]["update"]["project"]["destinations"]
    assert len(shown) == number


async def test_what_cannot_be_prepared_holds_up_nothing_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise LookupError

    monkeypatch.setattr(ProjectRecords, "prepare", fail)
    watch = AnnouncerWatch()
    watch.start(Collection=[collection(1)], Project=[project(2)])
    for each in range(2000):
        watch.view.put(DESTINATION, destination_document(f"d-{each}", "q", resourceVersion="3"))
    watch.says(PROJECT, project(100, "changed"))
    watch.says(PROJECT, project(101, name="another"))
    await watch.arrive(2)
    assert watch.names() == ["PROJECT_UPDATE", "PROJECT_CREATE"]


def test_a_project_of_few_destinations_is_announced_at_once() -> None:
    watch = AnnouncerWatch()
    watch.start(Collection=[collection(1)], Project=[project(2)])
    watch.view.put(DESTINATION, destination_document("d", "q", resourceVersion="3"))
    watch.says(PROJECT, project(100, "changed"))
    assert len(watch.events) == 1
