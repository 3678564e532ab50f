"""A destination tells its own story, from its first attempt on."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.plans import plan
from tests.support.worlds import delivering, destination, encoder, on_air, pod, project, world

from onair_crds.contract.program import DestinationState
from onair_crds.shapes import Document
from onair_operator.cluster.actions import ResourceEvent

REFUSED = "203.0.113.9:1935 refused the connection"


def events(
    state: DestinationState | None, before: Document | None = None, **spec: Any
) -> list[tuple[str, ...]]:
    """Kind, reason, message of the Events of one look at a show that is on air."""
    observed = world(
        project(status={"broadcast": on_air()}),
        pods=[pod()],
        destinations=[destination(status=before or {}, **spec)],
        encoders=[encoder(destinations=[state] if state else [])],
    )
    found = [action for action in plan(observed) if isinstance(action, ResourceEvent)]
    return [(each.resource.kind, each.reason, each.message) for each in found]


@pytest.mark.parametrize("before", [None, {"connect": "Disconnected", "lastError": "another"}])
def test_a_failure_from_the_start_is_an_event_of_the_destination(before: Document | None) -> None:
    refused = delivering(connect="Disconnected", error=REFUSED)
    assert events(refused, before) == [("Destination", "NotConnected", REFUSED)]


def test_the_same_failure_again_is_none() -> None:
    refused = delivering(connect="Disconnected", error=REFUSED)
    assert events(refused, {"connect": "Disconnected", "lastError": REFUSED}) == []


def test_connections_are_events_of_destination_and_project() -> None:
    assert events(delivering(), {"connect": "Disconnected"}) == [
        ("Destination", "Connected", "media flows"),
        ("Project", "DestinationConnected", "media flows to destination main"),
    ]
    lost = delivering(connect="Disconnected", error=REFUSED)
    assert events(lost, {"connect": "Connected"}) == [
        ("Destination", "Disconnected", REFUSED),
        ("Project", "DestinationDisconnected", f"destination main: {REFUSED}"),
    ]


def test_what_only_its_owner_can_fix_is_named_once() -> None:
    address = {"rtmpPush": {"url": "rtmp://a/live", "keySecretRef": {"name": "key", "key": "k"}}}
    assert events(None, None, address=address) == [
        ("Destination", "SecretNotFound", "Secret key does not exist")
    ]
    condition = {
        "type": "Ready",
        "status": "False",
        "reason": "SecretNotFound",
        "lastTransitionTime": "2026-05-01T11:00:00Z",
    }
    known = {"connect": "Disconnected", "conditions": [condition]}
    assert events(None, known, address=address) == []
