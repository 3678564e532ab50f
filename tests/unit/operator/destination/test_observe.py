"""A destination that is stored against the rules is told which, and is none that disturbs others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.documents import destination_document, document
from tests.support.worlds import NOW, SETTINGS

from onair_crds.contract.program import DestinationState, EncoderPhase, EncoderStatus
from onair_crds.kube.store import Store
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_crds.resources.enums import ConnectState
from onair_crds.shapes import Document
from onair_operator.cluster.actions import ResourceEvent, WriteStatus
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.destination.observe import ObservedDestination, observe
from onair_operator.destination.plan import make_plan
from onair_operator.encoder.observed import EncoderView
from onair_operator.reconcilers import keys_of

NO_PORT = {"srtPush": {"url": "srt://media.example?streamid=hidden"}}


def world_of(destination: Document, *, project: bool, fleet: object = None) -> World:
    store = Store(KINDS)
    store.update("Destination", destination)
    if project:
        broadcast = {"broadcast": {"id": "run", "phase": "Running", "encoder": "uid-pod-1"}}
        store.update("Project", {**document("show", {"collectionId": "sunday"}), "status": broadcast})
    return World(store, *cast(Any, (fleet, None, None)))


@pytest.mark.parametrize("project", [True, False], ids=["its project is there", "without a project"])
@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"projectId": "show", "address": NO_PORT},
            "spec.address.srtPush.url: Value error, must name a port",
        ),
        (
            {"projectId": "show", "address": {"rtmpPush": {"url": "rtmp://a.example/b"}}, "timeout": 50},
            "spec.timeout: Input should be greater than or equal to 100",
        ),
        (
            {"address": {}},
            "spec.projectId: Field required; spec.address: Value error, exactly one of rtmpPush",
        ),
        (None, "spec: Input should be a valid dictionary"),
    ],
    ids=["an address", "a bound", "two rules", "no spec"],
)
def test_a_destination_that_breaks_a_rule_is_told_field_and_rule_once(
    spec: Document | None, told: str, project: bool
) -> None:
    broken = {**document("main", generation=2), "spec": spec}
    broken["status"] = {"type": "SRT", "connect": "Connected", "since": "2026-05-01T10:00:00Z"}
    observed = observe(world_of(broken, project=project), "main")
    assert observed
    write, *_, event = make_plan(observed, NOW, SETTINGS)
    assert isinstance(write, WriteStatus)
    assert isinstance(write.status, DestinationStatus)
    (condition,) = write.status.conditions
    assert (condition.status, condition.reason, condition.observed_generation) == ("False", "Invalid", 2)
    assert told in condition.message
    assert "hidden" not in condition.message
    assert (write.status.connect, write.status.type) == ("Disconnected", "SRT")
    assert write.status.last_error == condition.message
    assert isinstance(event, ResourceEvent)
    assert (event.resource.kind, event.resource.name, event.reason) == ("Destination", "main", "Invalid")
    settled = observed.destination.model_copy(update={"status": write.status})
    assert make_plan(ObservedDestination(settled, project, observed.invalid), NOW, SETTINGS) == []


def test_a_status_that_cannot_be_read_either_is_replaced() -> None:
    broken = {**destination_document("main", "show"), "spec": {}, "status": {"connect": "Perhaps"}}
    observed = observe(world_of(broken, project=True), "main")
    assert observed
    assert observed.destination.status == DestinationStatus()


def test_a_status_of_a_newer_operator_breaks_no_rule() -> None:
    newer = {**destination_document("main", "show"), "status": {"connect": "Reconnecting"}}
    observed = observe(world_of(newer, project=True), "main")
    assert observed
    assert (observed.invalid, observed.destination.spec.project_id) == (None, "show")
    assert make_plan(observed, NOW, SETTINGS) == []


@pytest.mark.parametrize(
    ("generation", "phase", "is_reported"),
    [(2, "running", True), (1, "running", False), (2, "finished", False)],
    ids=["as it is", "another generation", "over"],
)
def test_one_that_an_encoder_still_delivers_to_is_shown_so(
    generation: int, phase: EncoderPhase, is_reported: bool
) -> None:
    broken = {**document("main", {"projectId": "show", "address": NO_PORT}, generation=2), "status": {}}
    since = "2026-05-01T10:00:00Z"
    state = DestinationState(id="main", connect=ConnectState.CONNECTED, since=since, generation=generation)
    status = EncoderStatus(phase=phase, destinations=[state])
    views = {"uid-pod-1": EncoderView("uid-pod-1", connected=True, status=status)}
    world = world_of(broken, project=True, fleet=SimpleNamespace(views=lambda uids: views))
    labels = {"onair.dev/project": "show", "onair.dev/broadcast": "run", "onair.dev/epoch": "1"}
    world.store.update("Pod", {**document("show-run-1", labels=labels, uid="uid-pod-1"), "status": {}})
    observed = observe(world, "main")
    assert observed
    write, *_ = make_plan(observed, NOW, SETTINGS)
    assert isinstance(write, WriteStatus)
    assert isinstance(write.status, DestinationStatus)
    (condition,) = write.status.conditions
    assert (condition.status, condition.reason) == ("False", "Invalid")
    assert ("the encoder continues" in condition.message) is is_reported
    assert write.status.connect == ("Connected" if is_reported else "Disconnected")
    settled = observed.destination.model_copy(update={"status": write.status})
    again = ObservedDestination(settled, observed.project_exists, observed.invalid, observed.reported)
    assert make_plan(again, NOW, SETTINGS) == []


@pytest.mark.parametrize(
    "views",
    [{}, {"uid-pod-1": EncoderView("uid-pod-1", connected=False, status=None)}],
    ids=["not followed yet", "not heard yet"],
)
def test_while_an_encoder_is_yet_to_report_nothing_is_said_of_one_that_it_may_deliver_to(
    views: dict[str, EncoderView],
) -> None:
    """As where the operator was upgraded to one with stricter rules."""
    broken = document("main", {"projectId": "show", "address": NO_PORT}, generation=2)
    broken["status"] = {"connect": "Connected", "since": "2026-05-01T10:00:00Z"}
    world = world_of(broken, project=True, fleet=SimpleNamespace(views=lambda uids: views))
    labels = {"onair.dev/project": "show", "onair.dev/broadcast": "run", "onair.dev/epoch": "1"}
    world.store.update("Pod", {**document("show-run-1", labels=labels, uid="uid-pod-1"), "status": {}})
    observed = observe(world, "main")
    assert observed
    assert observed.invalid
    assert make_plan(observed, NOW, SETTINGS) == []


def test_one_that_is_as_its_rules_say_is_left_to_its_project() -> None:
    observed = observe(world_of(destination_document("main", "show"), project=True), "main")
    assert observed
    assert (observed.invalid, make_plan(observed, NOW, SETTINGS)) == (None, [])
    assert isinstance(observed.destination, Destination)


@pytest.mark.parametrize("kind", ["Destination", "Source", "Layout", "Project"])
@pytest.mark.parametrize("spec", [None, {}])
def test_what_names_no_parent_is_taken_into_the_store_and_bears_on_itself(
    kind: str, spec: Document | None
) -> None:
    store = Store(KINDS)
    change = store.update(kind, {**document("stray"), "spec": spec})
    assert change
    assert {key.name for key in keys_of(store, change)} <= {"stray"}
