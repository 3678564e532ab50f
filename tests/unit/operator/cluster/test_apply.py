"""Plans are carried out in order, each write as a compare-and-swap on the version before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.applier import ApplierSetting
from tests.support.documents import credentials_document, destination_document, document
from tests.support.worlds import NOW, SETTINGS, collection, destination, on_air, pod, project

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.contract.owners import owner_reference
from onair_crds.kube.errors import ApiError
from onair_crds.resources.collection import CollectionStatus
from onair_crds.resources.destination import DestinationStatus
from onair_crds.resources.enums import BroadcastPhase, RoomPhase
from onair_crds.resources.project import BroadcastStatus, ProjectStatus
from onair_crds.resources.room import RoomStatus
from onair_crds.shapes import Document
from onair_operator.cluster.actions import (
    Action,
    Adopt,
    AdoptSecret,
    ClaimStreams,
    CreatePod,
    DeleteIngestPod,
    DeleteSecret,
    Disown,
    FollowEncoder,
    KeepRoom,
    Requeue,
    ResourceEvent,
    SetFinalizer,
    WriteStatus,
)
from onair_operator.cluster.ingest_pods import LeavingPod
from onair_operator.cluster.lease import LeaseExpired
from onair_operator.cluster.queue import Key
from onair_operator.room.plan import KeptRoom
from onair_operator.specs.ready import Verdict, with_ready


@pytest.fixture
def setting() -> ApplierSetting:
    return ApplierSetting()


async def test_each_write_is_made_on_the_version_that_the_one_before_it_left(setting: ApplierSetting) -> None:
    show = project()
    plan: list[Action] = [
        SetFinalizer(show, BROADCAST_FINALIZER, present=True),
        WriteStatus(show, ProjectStatus()),
        WriteStatus(destination(), DestinationStatus()),
        SetFinalizer(show, BROADCAST_FINALIZER, present=False),
    ]
    await setting.applier.apply(plan)
    assert setting.api.writes == [
        ("projects", "show", "10"),
        ("projects", "show", "101"),
        ("destinations", "main", "5"),
        ("projects", "show", "102"),
    ]
    assert [change.entry.version for change in setting.changes] == [101, 102, 103, 104]


async def test_a_plan_of_any_kind_is_carried_out(setting: ApplierSetting) -> None:
    verdict = Verdict(True, "Accepted")
    status = CollectionStatus(conditions=with_ready([], verdict, 1, NOW))
    event = ResourceEvent(collection(), "Accepted", "taken")
    await setting.applier.apply([WriteStatus(collection(), status), event])
    assert setting.api.writes == [("collections", "sunday", "1")]
    assert setting.events.recorded == [event]


async def test_a_conflict_voids_the_rest_of_a_plan(setting: ApplierSetting) -> None:
    setting.api.conflict = True
    event = ResourceEvent(project(), "Stopped", "never recorded")
    with pytest.raises(ApiError):
        await setting.applier.apply([WriteStatus(project(), ProjectStatus()), event])
    assert setting.events.recorded == []
    assert setting.changes == []


@pytest.mark.parametrize(
    ("action", "written"),
    [
        (WriteStatus(destination("a"), DestinationStatus()), ("Destination", "a")),
        (SetFinalizer(project(), BROADCAST_FINALIZER, present=True), ("Project", "show")),
        (Adopt(destination("a"), project()), ("Destination", "a")),
        (AdoptSecret("key", destination("b")), ("Secret", "key")),
    ],
)
async def test_a_failure_says_what_was_to_be_written(
    setting: ApplierSetting, action: Action, written: tuple[str, str]
) -> None:
    setting.api.conflict = True
    setting.store.update("Secret", credentials_document("key", "b"))
    setting.api.present["show"] = document("show", {"collectionId": "sunday"}, uid=project().uid)
    setting.api.present["b"] = destination_document("b", "show", uid=destination("b").uid)
    with pytest.raises(ApiError) as failed:
        await setting.applier.apply([action])
    assert failed.value.written == written


async def test_without_the_right_to_write_what_only_tells_the_rest_of_a_plan_is_carried_out(
    setting: ApplierSetting,
) -> None:
    setting.api.no_right = {"projects", "destinations"}
    show = project(status={"broadcast": on_air()})
    told = show.status.model_copy(update={"state": "OnAir"})
    plan: list[Action] = [
        WriteStatus(show, told),
        *(WriteStatus(destination(name), DestinationStatus()) for name in ("a", "b", "c")),
        ResourceEvent(show, "Slate", "told at each attempt otherwise"),
        Requeue(Key("Project", "show"), 0.0),
    ]
    with pytest.raises(ApiError, match="projects/status"):
        await setting.applier.apply(plan)
    assert await setting.queue.take() == Key("Project", "show")
    assert (setting.api.attempts, setting.events.recorded) == (2, [])


@pytest.mark.parametrize(
    "record",
    [
        {"broadcast": None},
        {"previous": BroadcastStatus(id="before", phase=BroadcastPhase.ARCHIVED)},
        {"used": ["another"]},
        {"trigger_start": "camera"},
        {"trigger_run": "next"},
        {"room": RoomStatus(opening=1, phase=RoomPhase.OPENING, since="2026-05-01T10:00:00Z")},
    ],
)
async def test_without_the_right_to_record_what_is_decided_next_nothing_is_done(
    setting: ApplierSetting, record: Document
) -> None:
    setting.api.no_right = {"projects"}
    show = project(status={"broadcast": on_air()})
    plan: list[Action] = [
        WriteStatus(show, show.status.model_copy(update=record)),
        CreatePod("show-run-2", show, "run", 2),
    ]
    with pytest.raises(ApiError, match="projects/status"):
        await setting.applier.apply(plan)
    assert setting.api.created == []


async def test_nothing_is_done_by_a_process_that_was_paused_beyond_its_lease(setting: ApplierSetting) -> None:
    setting.leads = False
    event = ResourceEvent(project(), "Stopped", "never recorded")
    for action in (WriteStatus(project(), ProjectStatus()), DeleteSecret("key", "u"), event):
        with pytest.raises(LeaseExpired):
            await setting.applier.apply([action])
    assert (setting.api.writes, setting.api.deleted, setting.events.recorded) == ([], [], [])


async def test_an_adoption_is_made_on_the_newest_known_version(setting: ApplierSetting) -> None:
    newest = {"name": "main", "uid": "uid-main", "resourceVersion": "50", "ownerReferences": [{"uid": "x"}]}
    setting.store.update("Destination", {"metadata": newest, "spec": {"projectId": "show", "address": {}}})
    setting.api.present["show"] = document("show", {"collectionId": "sunday"}, uid=project().uid)
    await setting.applier.apply([Adopt(destination(), project())])
    assert setting.api.writes == [("destinations", "main", "50")]


async def test_an_ingest_pod_of_a_dead_node_is_deleted_at_once(
    setting: ApplierSetting,
) -> None:
    pod, other = LeavingPod("onair-ingest-0", "u", "node-a"), LeavingPod("onair-ingest-1", "v", "node-a")
    pods = setting.world.ingest_pods
    pods.leaving = (pod, other)
    await setting.applier.apply([DeleteIngestPod(pod)])
    assert setting.api.deletions == [
        (SETTINGS.release_namespace, "onair-ingest-0", {"uid": "u", "grace_period_s": 0})
    ]
    assert list(pods.leaving) == [other]


async def test_what_is_nobodys_any_more_keeps_the_owners_that_others_gave_it(setting: ApplierSetting) -> None:
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}
    owners = [theirs, owner_reference("Project", "show", project().uid)]
    newest = {"name": "main", "uid": "uid-main", "resourceVersion": "50", "ownerReferences": owners}
    setting.store.update("Destination", {"metadata": newest, "spec": {"projectId": "show", "address": {}}})
    await setting.applier.apply([Disown(destination())])
    assert setting.api.writes == [("destinations", "main", "50")]
    assert setting.api.metadata == [{"ownerReferences": [theirs], "resourceVersion": "50"}]


@pytest.mark.parametrize("what", ["is gone", "is another by now", "is being deleted"])
async def test_nothing_is_adopted_by_an_owner_that_is_gone(setting: ApplierSetting, what: str) -> None:
    """The garbage collector deletes what such an owner alone has."""
    setting.store.update("Collection", document("sunday", uid=collection().uid))
    if what == "is another by now":
        setting.api.present["sunday"] = document("sunday", uid="uid-of-the-successor")
    elif what == "is being deleted":
        leaving = document("sunday", uid=collection().uid)
        leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        setting.api.present["sunday"] = leaving
    with pytest.raises(ApiError):
        await setting.applier.apply([Adopt(project(), collection())])
    assert setting.api.writes == []
    known = setting.store.entry("Collection", "sunday")
    assert known is None or known.deleting or what == "is another by now"


async def test_no_successor_is_adopted_in_place_of_what_was_looked_at(setting: ApplierSetting) -> None:
    newest = {"name": "main", "uid": "uid-of-the-successor", "resourceVersion": "50"}
    setting.store.update("Destination", {"metadata": newest, "spec": {"projectId": "other", "address": {}}})
    setting.api.present["show"] = document("show", {"collectionId": "sunday"}, uid=project().uid)
    with pytest.raises(ApiError):
        await setting.applier.apply([Adopt(destination(), project())])
    assert setting.api.writes == []


async def test_what_was_deleted_by_somebody_else_is_dropped(setting: ApplierSetting) -> None:
    setting.store.update("Secret", {"metadata": {"name": "key", "uid": "u", "resourceVersion": "1"}})
    await setting.applier.apply([DeleteSecret("key", "u")])
    assert setting.api.deleted == ["key"]
    assert setting.store.entry("Secret", "key") is None
    assert [change.after for change in setting.changes] == [None]


@pytest.mark.parametrize(
    ("kind", "present", "deleted"),
    [
        ("destination", destination_document("main", "show", "next-key"), []),
        ("destination", destination_document("main", "show", "another-key"), ["next-key"]),
        ("destination", None, ["next-key"]),
        ("source", document("main", {"collectionId": "sunday"}), []),
        ("source", None, ["next-key"]),
    ],
)
async def test_credentials_are_deleted_only_if_the_api_server_knows_of_no_use(
    setting: ApplierSetting, kind: str, present: Document | None, deleted: list[str]
) -> None:
    setting.store.update("Destination", destination_document("main", "show", "former-key"))
    setting.store.update("Secret", credentials_document("next-key", "main", kind))
    if present:
        present["metadata"]["resourceVersion"] = "1000000"
        setting.api.present["main"] = present
    await setting.applier.apply([DeleteSecret("next-key", "uid-next-key")])
    assert setting.api.deleted == deleted


async def test_a_key_of_any_kind_is_looked_at_again(setting: ApplierSetting) -> None:
    await setting.applier.apply([Requeue(Key("Secret", "key"), 0.0)])
    assert await setting.queue.take() == Key("Secret", "key")


async def test_what_is_gone_since_it_was_planned_for_is_neither_kept_nor_claimed(
    setting: ApplierSetting,
) -> None:
    kept: list[tuple[str, KeptRoom | None]] = []
    dropped: list[tuple[str, str]] = []
    rooms: Any = SimpleNamespace(
        keep=lambda room, wanted: kept.append((room, wanted)),
        drop=lambda room, project: dropped.append((room, project)),
    )
    object.__setattr__(setting.world, "rooms", rooms)
    wanted = KeptRoom("show", 1, 1)
    plan: list[Action] = [
        KeepRoom("uid-show", wanted),
        ClaimStreams("show", {"main": "fingerprint"}),
        FollowEncoder("show", pod(), "certificate"),
    ]
    await setting.applier.apply(plan)
    assert (kept, dropped) == ([("uid-show", wanted)], [("uid-show", "show")])
    assert setting.world.streams.of("show") == {}
    setting.store.update("Project", {**document("show", {"collectionId": "sunday"})})
    await setting.applier.apply(plan[:2])
    assert len(dropped) == 1
    assert setting.world.streams.of("show") == {"main": "fingerprint"}
