"""What of the store makes up a project."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import ValidationError
from tests.support.documents import destination_document, document
from tests.support.worlds import NOW, SETTINGS

from onair_crds.kube.store import Store
from onair_crds.resources.destination import Destination
from onair_operator.cluster.actions import Requeue
from onair_operator.cluster.queue import Key
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.project.observe import observe
from onair_operator.project.plan import make_plan

STALE = document(
    "stale", {"projectId": "show", "address": {"srtPush": {"url": "srt://media.example?streamid=hidden"}}}
)
"""Of the time before a port was asked for."""


def test_a_stored_destination_that_is_not_valid_any_more_is_left_out_and_looked_at_itself() -> None:
    store = Store(KINDS)
    composition = {"external": {"url": "https://graphics.example"}}
    store.update("Project", document("show", {"collectionId": "sunday", "composition": composition}))
    store.update("Destination", destination_document("main", "show"))
    store.update("Destination", STALE)
    store.update("Layout", document("stale", {"projectId": "show"}, ownerReferences=[{"uid": "uid-show"}]))
    store.update("Collection", document("sunday"))
    fleet = SimpleNamespace(views=lambda uids: {})
    rtc_providers = SimpleNamespace(known=dict)
    world = World(store, *cast(Any, (fleet, SimpleNamespace(dead=frozenset()), rtc_providers)), refusals={})
    observed = observe(world, "show")
    assert observed
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
    fleet = SimpleNamespace(views=lambda uids: {})
    rtc_providers = SimpleNamespace(known=dict)
    world = World(store, *cast(Any, (fleet, SimpleNamespace(dead=frozenset()), rtc_providers)), refusals={})
    observed = observe(world, "show")
    assert observed
    assert {name: status.connect for name, status in observed.trigger_sources.items()} == {
        "camera": "Connected"
    }


def test_an_error_of_validation_does_not_tell_what_was_given() -> None:
    with pytest.raises(ValidationError) as caught:
        Destination.model_validate(STALE)
    assert "must name a port" in str(caught.value)
    assert "hidden" not in str(caught.value)
