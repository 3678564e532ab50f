"""What of the store makes up a project."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError
from tests.support.documents import destination_document, document
from tests.support.worlds import NOW, SETTINGS

from onair_crds.contract.ingest_gateway import reader_token
from onair_crds.contract.labels import PROJECT_LABEL, SANDBOX_INSTALLED, SANDBOX_LABEL_PREFIX
from onair_crds.kube.store import Store
from onair_crds.resources.destination import Destination
from onair_crds.resources.project import BroadcastStatus
from onair_operator.cluster.actions import Requeue
from onair_operator.cluster.queue import Key
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.ingest.gateways import Gateways
from onair_operator.project.observe import observe
from onair_operator.project.plan import make_plan
from onair_operator.project.program import wanted_program
from onair_operator.project.triggers import next_turn
from onair_operator.settings import GatewaySettings

STALE = document(
    "stale", {"projectId": "show", "address": {"srtPush": {"url": "srt://media.example?streamid=hidden"}}}
)
"""Of the time before a port was asked for."""
COUNTED = {"sourceId": "camera", "connect": "Connected"}


def world_of(store: Store, gateways: Gateways | None = None) -> World:
    fleet: Any = SimpleNamespace(views=lambda uids: {})
    nodes: Any = SimpleNamespace(dead=frozenset())
    rtc_providers: Any = SimpleNamespace(known=dict)
    return World(store, fleet, nodes, rtc_providers, gateways or Gateways())


def test_a_stored_destination_that_is_not_valid_any_more_is_left_out_and_looked_at_itself() -> None:
    store = Store(KINDS)
    composition = {"external": {"url": "https://graphics.example"}}
    store.update("Project", document("show", {"collectionId": "sunday", "composition": composition}))
    store.update("Destination", destination_document("main", "show"))
    store.update("Destination", STALE)
    store.update("Layout", document("stale", {"projectId": "show"}, ownerReferences=[{"uid": "uid-show"}]))
    store.update("Collection", document("sunday", {"owner": {"serviceId": "news", "serviceUserId": "u"}}))
    observed = observe(world_of(store), "show")
    assert observed
    assert observed.service_id == "news"
    assert [each.name for each in observed.destinations] == ["main"]
    assert Requeue(Key("Destination", "stale"), 0.0) in make_plan(observed, NOW, SETTINGS)


def test_only_sources_of_the_collection_that_trigger_something_are_observed() -> None:
    store = Store(KINDS)
    triggers = {"camera": "Or", "other": "Or", "gone": "Or", "shown": "Ignore"}
    sources = [{"sourceId": name, "trigger": {"start": action}} for name, action in triggers.items()]
    composition = {"external": {"url": "https://graphics.example"}}
    spec = {"collectionId": "sunday", "composition": composition, "sources": sources}
    store.update("Project", document("show", spec))
    for name, collection in {"camera": "sunday", "other": "another", "shown": "sunday"}.items():
        source = document(name, {"collectionId": collection, "address": {"rtmpPush": {}}})
        store.update("Source", {**source, "status": {"connect": "Connected"}})
    observed = observe(world_of(store), "show")
    assert observed
    assert {name: status.connect for name, status in observed.trigger_sources.items()} == {
        "camera": "Connected"
    }


def test_a_page_is_given_the_sources_of_its_collection_where_they_are_received() -> None:
    store = Store(KINDS)
    names = ("camera", "stage", "away", "lost", "other")
    composition = {"external": {"url": "https://graphics.example"}}
    sources = [{"sourceId": name} for name in names]
    store.update(
        "Project",
        document("show", {"collectionId": "sunday", "composition": composition, "sources": sources}),
    )
    for name in names:
        collection = "another" if name == "other" else "sunday"
        source = document(name, {"collectionId": collection, "address": {"rtmpPush": {}}})
        gateway = "unknown-pod" if name == "lost" else "onair-ingest-0"
        status = {} if name == "away" else {"gateway": gateway, "stream": f"stream-of-{name}"}
        store.update("Source", {**source, "status": status})
    gateways = Gateways([GatewaySettings(name="onair-ingest-0", url="http://onair-ingest-0.ingest:8448/")])
    world = world_of(store, gateways)
    before = observe(world, "show")
    assert before
    assert before.program_sources == (), "nothing can be read without the installation's secret"
    assert before.sources_withheld
    gateways.take_secret(b"secret")
    observed = observe(world, "show")
    assert observed
    assert not observed.sources_withheld
    assert [(each.id, each.gateway, each.stream) for each in observed.program_sources] == [
        ("camera", "http://onair-ingest-0.ingest:8448", "stream-of-camera"),
        ("stage", "http://onair-ingest-0.ingest:8448", "stream-of-stage"),
    ]
    assert observed.program_sources[0].token.get_secret_value() == reader_token(b"secret", "stream-of-camera")
    assert "stream-of-camera" in observed.program_sources[0].wire()
    assert observed.program_sources[0].token.get_secret_value() not in repr(observed)
    broadcast = BroadcastStatus.model_validate({"id": "run", "epoch": 1, "phase": "Running"})
    program = wanted_program(observed, broadcast, SETTINGS)
    assert program.sources == list(observed.program_sources)
    assert program.source_delay_ms == 500, "the target latency, which nobody has set"


def test_a_source_whose_state_cannot_be_read_is_unknown_and_the_project_goes_on() -> None:
    store = Store(KINDS)
    composition = {"external": {"url": "https://graphics.example"}}
    sources = [{"sourceId": "camera", "trigger": {"stop": "Or"}}]
    spec = {"collectionId": "sunday", "composition": composition, "sources": sources}
    store.update("Project", {**document("show", spec), "status": {"triggers": [COUNTED]}})
    camera = document("camera", {"collectionId": "sunday", "address": {"rtmpPush": {}}})
    store.update("Source", {**camera, "status": {"connect": "OfAnotherVersion"}})
    observed = observe(world_of(store), "show")
    assert observed
    turn = next_turn(observed, NOW, SETTINGS.triggers)
    assert [each.manifest() for each in turn.states or []] == [COUNTED], "what is unknown is no edge"


def test_an_error_of_validation_does_not_tell_what_was_given() -> None:
    with pytest.raises(ValidationError) as caught:
        Destination.model_validate(STALE)
    assert "must name a port" in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("waits", [True, False])
def test_where_pages_can_be_sandboxed_is_looked_up_while_a_pod_has_no_node(waits: bool) -> None:
    store = Store(KINDS)
    composition = {"external": {"url": "https://graphics.example"}}
    store.update("Project", document("show", {"collectionId": "sunday", "composition": composition}))
    pod = document("show-run-1", {}, labels={PROJECT_LABEL: "show"})
    scheduled = {"type": "PodScheduled", "status": "False" if waits else "True", "reason": "Unschedulable"}
    store.update("Pod", {**pod, "status": {"conditions": [{**scheduled, "message": "0/2 nodes"}]}})
    for node, label in {"a": "chromium-1", "b": "chromium-2"}.items():
        labels = {f"{SANDBOX_LABEL_PREFIX}{label}": SANDBOX_INSTALLED, "zone": SANDBOX_INSTALLED}
        store.update("Node", document(node, {}, labels=labels))
    store.update("Node", document("c", {}, labels={f"{SANDBOX_LABEL_PREFIX}chromium-3": "no"}))
    observed = observe(world_of(store), "show")
    assert observed
    found = {f"{SANDBOX_LABEL_PREFIX}chromium-{number}" for number in (1, 2)}
    assert observed.sandboxes == (found if waits else None)
