"""Publishers who show a source's key and are refused are told on the source, and on nothing else."""

from __future__ import annotations

import pytest
from tests.support.documents import document

from onair_crds.contract.ingest_gateway import Heartbeat, RefusedPublisher, RefusedReason
from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import KINDS, SOURCE
from onair_operator.source.events import heartbeat_events, refused_event


@pytest.fixture
def store() -> Store:
    store = Store(KINDS)
    spec = {"collectionId": "sunday", "address": {"rtmpPush": {}}}
    store.update(SOURCE, {**document("camera", spec), "status": {"stream": "s1"}})
    return store


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("InUse", "a second publisher tried the key of camera from 203.0.113.40"),
        ("Disabled", "a publisher tried the key of camera, which is disabled, from 203.0.113.40"),
        (
            "WrongProtocol",
            "a publisher tried the key of camera by another protocol than its own, from 203.0.113.40",
        ),
    ],
)
def test_a_publisher_who_is_refused_is_told_on_the_source(
    store: Store, reason: RefusedReason, message: str
) -> None:
    event = refused_event(store, RefusedPublisher(stream="s1", reason=reason, publisher="203.0.113.40"))
    assert event
    assert (event.resource.name, event.reason, event.message) == ("camera", "PublisherRefused", message)
    assert event.warning


def test_a_publisher_of_whom_no_address_is_known_is_told_too(store: Store) -> None:
    event = refused_event(store, RefusedPublisher(stream="s1", reason="InUse"))
    assert event
    assert event.message == "a second publisher tried the key of camera"


def test_a_key_of_nobody_is_told_nowhere(store: Store) -> None:
    assert refused_event(store, RefusedPublisher(stream="s2", reason="Disabled")) is None
    assert refused_event(store, RefusedPublisher(stream="pull-gone", reason="Disabled")) is None


def test_a_preview_that_waits_for_others_is_told_on_the_source(store: Store) -> None:
    (event,) = heartbeat_events(store, Heartbeat(waiting=["s1", "s2"]))
    assert (event.resource.name, event.reason, event.warning) == ("camera", "PreviewWaits", True)
    assert "ingest.previews.most" in event.message
