"""What destinations say that publish as one stream with another project's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.support.plans import destination_statuses, plan
from tests.support.worlds import (
    NOW,
    delivering,
    destination,
    encoder,
    held,
    on_air,
    pod,
    project,
    run,
    secret,
    world,
)

from onair_crds.resources.destination import DestinationStatus
from onair_crds.shapes import Document
from onair_operator.cluster.actions import ClaimStreams, Requeue, ResourceEvent
from onair_operator.destination.status import status_without_project
from onair_operator.project.observed import ObservedProject

KEY_REF = {"name": "key", "key": "streamKey"}
RIVAL = "destination b of project two"


def show(
    broadcast: Document, url: str = "rtmp://a.example/live", key: str = "hidden", **extra: Any
) -> ObservedProject:
    spec = {"address": {"rtmpPush": {"url": url, "keySecretRef": KEY_REF}}, **extra.pop("spec", {})}
    return world(
        project(status={"broadcast": broadcast}, metadata=held()),
        pods=[pod()],
        destinations=[destination("main", **spec)],
        secrets=[secret("key", streamKey=key)],
        **{"encoders": [encoder(destinations=[delivering("main")])], **extra},
    )


def claimed(observed: ObservedProject) -> dict[str, str]:
    found = [dict(each.streams) for each in plan(observed) if isinstance(each, ClaimStreams)]
    return found[0] if found else {}


def told(observed: ObservedProject) -> DestinationStatus:
    return destination_statuses(observed)["main"]


def test_what_is_on_air_is_claimed_by_a_fingerprint_alone() -> None:
    observed = show(on_air())
    assert list(claimed(observed)) == ["main"]
    assert "hidden" not in repr([vars(each) for each in plan(observed) if isinstance(each, ClaimStreams)])
    known = replace(observed, streams=claimed(observed))
    assert not any(isinstance(each, ClaimStreams) for each in plan(known))


def test_one_address_and_key_in_two_projects_are_one_stream() -> None:
    assert claimed(show(on_air())) == claimed(show(on_air(), "rtmp://A.example/live/"))
    assert claimed(show(on_air())) != claimed(show(on_air(), key="another"))
    assert claimed(show(on_air())) != claimed(show(on_air(), "rtmp://b.example/live"))


@pytest.mark.parametrize(
    "observed",
    [
        show(run("Stopped", encoder="uid-pod-1", stop="2026-05-01T11:00:00Z")),
        replace(show(run("Waiting")), pods=(), encoders={}),
        show(on_air(), spec={"enabled": False}),
    ],
    ids=["ended", "not placed yet", "disabled"],
)
def test_what_is_not_on_air_claims_nothing(observed: ObservedProject) -> None:
    assert claimed(observed) == {}
    before = replace(observed, streams={"main": "x"})
    assert ClaimStreams("show", {}) in plan(before)


def test_a_rival_is_told_by_a_condition_and_an_event_and_both_go_on() -> None:
    observed = show(on_air(), rivals={"main": RIVAL})
    status = told(observed)
    assert [(each.type, each.status, each.reason) for each in status.conditions] == [
        ("Ready", "True", "Connected"),
        ("Conflicted", "True", "StreamKeyInUse"),
    ]
    assert status.conditions[1].message.startswith(f"{RIVAL} is on air with the same address and key")
    events = [each for each in plan(observed) if isinstance(each, ResourceEvent)]
    assert [each.reason for each in events if each.resource.name == "main"] == ["Connected", "StreamKeyInUse"]
    assert "hidden" not in repr((status, events))
    again = observed.destinations[0].model_copy(update={"status": status})
    assert destination_statuses(replace(observed, destinations=(again,))) == {}


def test_a_lost_connection_names_the_rival() -> None:
    lost = delivering("main", "Disconnected", "the server closed the connection")
    observed = show(on_air(), rivals={"main": RIVAL}, encoders=[encoder(destinations=[lost])])
    error = told(observed).last_error
    assert error == f"the server closed the connection; {RIVAL} is on air with the same address and key"


def conflicted() -> ObservedProject:
    observed = show(on_air(), rivals={"main": RIVAL})
    known = observed.destinations[0].model_copy(update={"status": told(observed)})
    return replace(observed, destinations=(known,), rivals={}, streams=claimed(observed))


def test_it_is_not_told_any_more_once_the_rival_has_ended() -> None:
    assert [each.type for each in told(conflicted()).conditions] == ["Ready"]


def test_a_process_that_has_not_looked_at_all_shows_yet_leaves_it_as_it_was() -> None:
    observed = replace(conflicted(), rivals_known_in_s=7.0)
    assert destination_statuses(observed) == {}
    assert 7.0 in [each.after_s for each in plan(observed) if isinstance(each, Requeue)]


def test_one_whose_project_is_gone_has_no_rival() -> None:
    (known,) = conflicted().destinations
    assert [each.type for each in status_without_project(known, NOW).conditions] == ["Ready"]
