"""A project that is stored against the rules is told which; its broadcast goes on, and can be stopped."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import ValidationError
from tests.support.documents import destination_document, document
from tests.support.plans import broadcast_of, plan, ready_of, released, status_of
from tests.support.worlds import encoder, held, on_air, pod, project, run

from onair_crds.contract.program import EncoderStatus
from onair_crds.kube.store import Store
from onair_crds.resources.project import ProjectStatus
from onair_crds.shapes import Document
from onair_operator.cluster.actions import CreatePod, PushProgram, ResourceEvent
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.encoder.observed import EncoderView
from onair_operator.project.observe import observe
from onair_operator.project.observed import ObservedProject

HUGE = {"rendering": {"video": {"width": 100_000}}}
RULE = "spec.rendering.video.width: Input should be less than or equal to 3840"
NO_ENCODER = EncoderView("uid-pod-1", connected=False, status=None)


def stored(spec: Document, status: Document | None = None, **metadata: Any) -> Document:
    shown = {"composition": {"external": {"url": "https://graphics.example/stage"}}}
    return {
        **document(
            "show", {"collectionId": "sunday", **shown, **spec}, generation=3, **{**held(), **metadata}
        ),
        "status": status or {},
    }


def world_of(views: dict[str, EncoderView], *pods: Document) -> World:
    store = Store(KINDS)
    store.update("Collection", document("sunday"))
    store.update("Destination", destination_document("main", "show"))
    for each in pods:
        store.update("Pod", each)
    fleet, nodes = SimpleNamespace(views=lambda uids: views), SimpleNamespace(dead=frozenset())
    return World(store, *cast(Any, (fleet, nodes, SimpleNamespace(known=dict))))


def encoder_pod(epoch: int = 1) -> Document:
    name = f"show-run-{epoch}"
    labels = {"onair.dev/project": "show", "onair.dev/broadcast": "run", "onair.dev/epoch": str(epoch)}
    status = {"phase": "Running", "podIP": "10.0.0.9"}
    placed = {"nodeName": "node-eu"}
    return {**document(name, placed, labels=labels, uid=f"uid-pod-{epoch}"), "status": status}


def seen(world: World, show: Document) -> ObservedProject:
    world.store.update("Project", show)
    observed = observe(world, "show")
    assert observed
    return observed


def live(spec: Document, view: EncoderView, **metadata: Any) -> ObservedProject:
    """A show on air that breaks a rule, as a process sees it that has just begun to lead."""
    wanted = {"broadcast": {"state": "Running"}, **spec}
    show = stored(wanted, {"broadcast": on_air()}, **metadata)
    return seen(world_of({view.pod_uid: view}, encoder_pod()), show)


def pushes(observed: ObservedProject) -> list[PushProgram]:
    return [action for action in plan(observed) if isinstance(action, PushProgram)]


def test_field_and_rule_are_told_once_and_no_run_begins() -> None:
    world = world_of({})
    wanted = {**HUGE, "broadcast": {"state": "Running", "id": "first"}}
    observed = seen(world, stored(wanted))
    condition = status_of(observed).conditions[0]
    assert (condition.status, condition.reason, condition.observed_generation) == ("False", "Invalid", 3)
    assert condition.message == f"not on air, as the project breaks a rule; correct {RULE}"
    assert [a.reason for a in plan(observed) if isinstance(a, ResourceEvent)] == ["Invalid"]
    assert status_of(observed).broadcast is None
    told = seen(world, stored(wanted, status_of(observed).manifest()))
    assert not [a for a in plan(told) if isinstance(a, ResourceEvent | CreatePod)]


def test_a_show_on_air_goes_on_as_it_was() -> None:
    observed = live(HUGE, encoder())
    assert (broadcast_of(observed).phase, ready_of(observed)) == ("Running", ("False", "Invalid"))
    assert status_of(observed).conditions[0].message.startswith("the broadcast continues as it was")
    assert pushes(observed) == [], "its encoder has the programme that it had"


def test_an_encoder_that_has_not_reported_yet_is_left_as_it_is() -> None:
    assert pushes(live(HUGE, NO_ENCODER)) == []


def test_defaults_stand_for_what_is_broken_where_an_encoder_has_no_programme() -> None:
    idle = EncoderView("uid-pod-1", connected=True, status=EncoderStatus(phase="idle"))
    (push,) = pushes(live({**HUGE, "maxDuration": 100_000}, idle))
    assert push.program.video.width == 1280
    assert push.program.composition_url == "https://graphics.example/stage"
    assert push.program.stop_at is not None


def test_a_version_that_was_valid_before_is_what_goes_on() -> None:
    view = encoder()
    world = world_of({view.pod_uid: view}, encoder_pod())
    wanted, status = {"broadcast": {"state": "Running"}}, {"broadcast": on_air()}
    valid = {"rendering": {"video": {"width": 1920, "height": 1080}}}
    seen(world, stored({**wanted, **valid}, status))
    observed = seen(world, stored({**wanted, **HUGE}, status))
    (push,) = pushes(observed)
    assert (push.program.video.width, push.program.stop) == (1920, False)
    gone = world.store.remove("Project", "show", "uid-show")
    assert gone
    assert gone.gone
    world.forget(gone.gone)
    assert world.valid_specs == {}


@pytest.mark.parametrize("wanted", [{"state": "Stopped"}, {"state": "Running", "stopped": "run"}])
def test_it_can_be_stopped(wanted: Document) -> None:
    observed = live({**HUGE, "broadcast": wanted}, encoder())
    assert broadcast_of(observed).phase == "Stopping"
    (push,) = pushes(observed)
    assert push.program.stop


def test_it_can_be_deleted() -> None:
    deleted = {"deletionTimestamp": "2026-05-01T12:00:00Z"}
    assert broadcast_of(live(HUGE, encoder(), **deleted)).phase == "Stopping"
    over = stored(HUGE, {"broadcast": run("Stopped", stop="2026-05-01T11:00:00Z")}, **deleted)
    assert released(seen(world_of({}), over))


def test_another_run_that_could_not_begin_does_not_end_the_present_one() -> None:
    observed = live({**HUGE, "broadcast": {"state": "Running", "id": "next"}}, encoder())
    assert broadcast_of(observed).phase == "Running"


@pytest.mark.parametrize("broadcast", [{"state": "Perhaps"}, {"state": "Running", "id": ""}, "Running"])
def test_a_broken_wish_changes_nothing_on_air(broadcast: Any) -> None:
    assert broadcast_of(live({"broadcast": broadcast}, encoder())).phase == "Running"
    by_source = on_air(startedBy="camera")
    view = encoder()
    show = stored({"broadcast": broadcast}, {"broadcast": by_source})
    observed = seen(world_of({view.pod_uid: view}, encoder_pod()), show)
    assert broadcast_of(observed).phase == "Running"
    assert broadcast_of(observed).running_observed is None


@pytest.mark.parametrize("spec", [None, {}, {"collectionId": 7}])
def test_without_a_collection_in_its_spec_the_one_that_owns_it_counts(spec: Document | None) -> None:
    owner = {"kind": "Collection", "name": "sunday", "uid": "uid-sunday"}
    show = {**stored({}, {"broadcast": on_air()}, ownerReferences=[owner]), "spec": spec}
    view = encoder()
    observed = seen(world_of({view.pod_uid: view}, encoder_pod()), show)
    assert (broadcast_of(observed).phase, ready_of(observed)) == ("Running", ("False", "Invalid"))


CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Fine",
    "lastTransitionTime": "2026-05-01T11:00:00Z",
}
ROOM = {"opening": 3, "phase": "Open", "since": "2026-05-01T11:00:00Z"}
NEWER = [
    {"previous": {**run("Archived"), "phase": "Frozen"}},
    {"previous": {**run("Archived"), "error": "Overheated"}},
    {"triggers": [{"sourceId": "camera", "connect": "Perhaps"}]},
    {"conditions": [{**CONDITION, "reason": "R" * 65}]},
    {"conditions": [{**CONDITION, "type": f"C{n}"} for n in range(17)]},
    {"state": "x" * 129},
    {"room": {**ROOM, "phase": "Locked"}},
    {"broadcast": {**on_air(), "error": "Overheated"}},
    {"draining": [{**run("Stopping"), "id": "earlier", "error": "Overheated"}]},
]
"""Statuses as only a newer operator would write them."""


@pytest.mark.parametrize("newer", NEWER)
def test_what_a_newer_operator_wrote_into_a_status_keeps_nobody_from_stopping_the_show(
    newer: Document,
) -> None:
    view = encoder()
    wanted = {"broadcast": {"state": "Stopped"}}
    show = stored(wanted, {"broadcast": on_air(), **newer})
    observed = seen(world_of({view.pod_uid: view}, encoder_pod()), show)
    assert (observed.invalid, observed.defaulted) == (None, False)
    assert (broadcast_of(observed).phase, broadcast_of(observed).id) == ("Stopping", "run")
    assert {push.program.stop for push in pushes(observed)} == {True}


def test_of_a_status_the_rest_is_read_though_spec_and_status_break_rules() -> None:
    used = ["abcdef0123456789"]
    status = {"broadcast": on_air(), "used": used, "triggerStart": "camera", "state": "x" * 129}
    observed = seen(world_of({}), stored(HUGE, status))
    assert observed.invalid == RULE
    assert observed.project.status.used == used
    assert observed.project.status.trigger_start == "camera"
    assert observed.project.status.state is None


def test_of_a_room_the_opening_is_read_so_that_it_is_closed_in_the_end() -> None:
    show = stored({}, {"room": {**ROOM, "phase": "Locked"}})
    room = seen(world_of({}), show).project.status.room
    assert room
    assert (room.opening, room.phase, room.since) == (3, "Opening", ROOM["since"])
    error = seen(world_of({}), stored({}, {"room": {**ROOM, "error": 7}})).project.status.room
    assert error
    assert (error.opening, error.phase, error.error) == (3, "Open", None)


@pytest.mark.parametrize(
    "broken",
    [
        {"broadcast": {**on_air(), "phase": "OfAnotherVersion"}},
        {"draining": [{**run("Stopping"), "phase": "OfAnotherVersion"}]},
        {"used": ["x" * 17]},
    ],
)
def test_records_of_runs_that_cannot_be_read_are_not_replaced(broken: Document) -> None:
    world = world_of({})
    world.store.update("Project", stored({}, {"broadcast": on_air(), **broken}))
    with pytest.raises(ValidationError):
        observe(world, "show")


@pytest.mark.parametrize("sources", [[{}], [{"sourceId": None}]])
def test_a_source_without_a_name_does_not_keep_a_project_out_of_the_store(sources: list[Document]) -> None:
    observed = seen(world_of({}), stored({"sources": sources}))
    assert (observed.project.spec.sources, observed.invalid is None) == ([], False)


def test_a_project_that_follows_the_rules_is_itself() -> None:
    show = project("Stopped")
    observed = seen(world_of({}), {"metadata": document("show")["metadata"], "spec": show.spec.manifest()})
    assert (observed.invalid, observed.defaulted) == (None, False)
    assert observed.project.status == ProjectStatus()
    assert pod().name == encoder_pod()["metadata"]["name"]


@pytest.mark.parametrize(
    ("change", "delivered", "kept"),
    [
        ({}, ["main"], []),
        ({"status": {"connect": "Reconnecting"}}, ["main"], []),
        ({"spec": {"timeout": 40_000}}, [], ["main"]),
        ({"spec": {"timeout": 40_000}, "status": {"connect": "Reconnecting"}}, [], ["main"]),
        ({"spec": {"timeout": 40_000, "enabled": False}}, [], []),
        ({"spec": {"timeout": 40_000}, "metadata": {"deletionTimestamp": "2026-05-01T12:00:00Z"}}, [], []),
    ],
    ids=["none", "a newer status", "a rule", "both", "disabled", "deleted"],
)
def test_a_destination_on_air_that_breaks_a_rule_of_another_version_stays_on_air(
    change: dict[str, Document], delivered: list[str], kept: list[str]
) -> None:
    view = encoder()
    world = world_of({view.pod_uid: view}, encoder_pod())
    document = destination_document("main", "show")
    document["metadata"].update(resourceVersion=str(10**9), generation=2)
    for part, given in change.items():
        document[part] = {**document.get(part, {}), **given}
    world.store.update("Destination", document)
    (push,) = pushes(seen(world, stored({"broadcast": {"state": "Running"}}, {"broadcast": on_air()})))
    assert [each.id for each in push.program.destinations] == delivered
    assert [(each.id, each.generation, each.uid) for each in push.program.kept] == [
        (name, document["metadata"]["generation"], document["metadata"]["uid"]) for name in kept
    ]
