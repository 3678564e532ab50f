"""The run that a client is shown, and what start and stop write. One row a situation."""

from __future__ import annotations

import datetime as dt

import pytest

from onair_api.live.broadcast.run import known_runs, present_run, status_record, wanted_start, wanted_stop
from onair_crds.contract.runs import fingerprint
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.shapes import Document

Part = Document


def wanted(state: str | None, run: str | None = None) -> Part:
    if state is None:
        return {}
    name = "id" if state == "Running" else "stopped"
    return {"broadcast": {"state": state, **({name: run} if run else {})}}


def observed(phase: str | None, run: str = "x", previous: str | None = None) -> Part:
    status: Part = {"broadcast": {"id": run, "phase": phase}} if phase else {}
    return status | ({"previous": {"id": previous, "phase": "Archived"}} if previous else {})


NOTHING, RUNNING_X, STOPPED_X = wanted(None), wanted("Running", "x"), wanted("Stopped", "x")
NEW = {"state": "Running", "id": "new"}

CASES: list[tuple[str, Part, Part, tuple[str | None, str], tuple[str, Part], Part]] = [
    # situation, spec, status, (id, phase) shown, (id, broadcast) after a start, broadcast after a stop
    ("never started", NOTHING, {}, (None, "NotRunning"), ("new", NEW), {}),
    ("default spec", wanted("Stopped"), {}, (None, "NotRunning"), ("new", NEW), {"state": "Stopped"}),
    ("just started", RUNNING_X, {}, ("x", "Waiting"), ("x", RUNNING_X["broadcast"]), STOPPED_X["broadcast"]),
    (
        "started again after an ended run",
        RUNNING_X,
        observed("Stopped", "old"),
        ("x", "Waiting"),
        ("x", RUNNING_X["broadcast"]),
        STOPPED_X["broadcast"],
    ),
    (
        "running",
        RUNNING_X,
        observed("Running"),
        ("x", "Running"),
        ("x", RUNNING_X["broadcast"]),
        STOPPED_X["broadcast"],
    ),
    (
        "stop not yet seen",
        STOPPED_X,
        observed("Running"),
        ("x", "Stopping"),
        ("new", NEW),
        STOPPED_X["broadcast"],
    ),
    ("stopping", STOPPED_X, observed("Stopping"), ("x", "Stopping"), ("new", NEW), STOPPED_X["broadcast"]),
    ("stopped", STOPPED_X, observed("Stopped"), ("x", "Stopped"), ("new", NEW), STOPPED_X["broadcast"]),
    (
        "stopped before the operator saw the start",
        STOPPED_X,
        {},
        ("x", "Stopped"),
        ("new", NEW),
        STOPPED_X["broadcast"],
    ),
    (
        "ended by itself",
        RUNNING_X,
        observed("Stopped"),
        ("x", "Stopped"),
        ("new", NEW),
        STOPPED_X["broadcast"],
    ),
    (
        "the wanted run was archived",
        RUNNING_X,
        observed("Stopped", "y", previous="x"),
        ("y", "Stopped"),
        ("new", NEW),
        {"state": "Stopped", "stopped": "y"},
    ),
    (
        "kubectl without an id, running",
        wanted("Running"),
        observed("Running", "made-up"),
        ("made-up", "Running"),
        ("made-up", {"state": "Running"}),
        {"state": "Stopped", "stopped": "made-up"},
    ),
    (
        "kubectl without an id, not yet seen",
        wanted("Running"),
        {},
        (None, "Waiting"),
        ("new", NEW),
        {"state": "Stopped"},
    ),
    (
        "a run that kubectl stopped before the operator saw it",
        {"broadcast": {"state": "Stopped", "id": "x"}},
        {},
        (None, "NotRunning"),
        ("new", NEW),
        {"state": "Stopped", "id": "x"},
    ),
    (
        "Running again by kubectl, not yet seen by the operator",
        {"broadcast": {"state": "Running", "stopped": "x"}},
        observed("Running"),
        ("x", "Stopping"),
        ("new", NEW),
        STOPPED_X["broadcast"],
    ),
    (
        "Running again by kubectl",
        {"broadcast": {"state": "Running", "stopped": "x"}},
        observed("Running", "made-up", previous="x"),
        ("made-up", "Running"),
        ("made-up", {"state": "Running", "stopped": "x"}),
        {"state": "Stopped", "stopped": "made-up"},
    ),
    (
        "an id that was used long ago",
        RUNNING_X,
        observed("Stopped", "z", previous="y") | {"used": [fingerprint("x")]},
        ("z", "Stopped"),
        ("new", NEW),
        {"state": "Stopped", "stopped": "z"},
    ),
    (
        "a source trigger's run",
        wanted("Stopped", "other"),
        observed("Running", "trigger") | {"used": [fingerprint("other")]},
        ("trigger", "Running"),
        ("trigger", {"state": "Running", "id": "trigger"}),
        {"state": "Stopped", "stopped": "trigger"},
    ),
    (
        "a source trigger's run beside an id that was used before it",
        wanted("Running", "other"),
        {
            "broadcast": {"id": "trigger", "phase": "Running", "startedBy": "camera"},
            "used": [fingerprint("other")],
        },
        ("trigger", "Running"),
        ("trigger", {"state": "Running", "id": "other"}),
        {"state": "Stopped", "stopped": "trigger"},
    ),
    (
        "a source is to start a run once this one has ended",
        STOPPED_X,
        observed("Stopping") | {"triggerStart": "camera", "triggerRun": "next"},
        ("x", "Stopping"),
        ("new", NEW),
        {"state": "Stopped", "stopped": "next"},
    ),
    (
        "that start is called off, not yet seen by the operator",
        {"broadcast": {"state": "Stopped", "stopped": "next"}},
        observed("Stopping") | {"triggerStart": "camera", "triggerRun": "next"},
        ("x", "Stopping"),
        ("new", NEW),
        {"state": "Stopped", "stopped": "next"},
    ),
    (
        "and seen by it",
        {"broadcast": {"state": "Stopped", "stopped": "next"}},
        observed("Stopping") | {"used": [fingerprint("next")]},
        ("x", "Stopping"),
        ("new", NEW),
        {"state": "Stopped", "stopped": "next"},
    ),
    (
        "both a source and a client are to start a run",
        wanted("Running", "y"),
        observed("Stopping") | {"triggerStart": "camera", "triggerRun": "next"},
        ("y", "Waiting"),
        ("y", {"state": "Running", "id": "y"}),
        {"state": "Stopped", "stopped": "next"},
    ),
    (
        "another run in place of a source trigger's",
        RUNNING_X,
        {"broadcast": {"id": "trigger", "phase": "Running", "startedBy": "camera"}},
        ("x", "Waiting"),
        ("x", RUNNING_X["broadcast"]),
        STOPPED_X["broadcast"],
    ),
]


@pytest.mark.parametrize(
    ("spec", "status", "shown", "started", "stopped"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_situations(
    spec: Part, status: Part, shown: tuple[str | None, str], started: tuple[str, Part], stopped: Part
) -> None:
    run = present_run(spec, status)
    assert (run.id, run.phase) == (shown[0], BroadcastPhase(shown[1]))
    assert wanted_start(spec, status, "new") == started
    assert wanted_stop(spec, status) == stopped


NOW = dt.datetime(2026, 1, 2, 3, 4, 15, 250_000, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({}, {}),
        (
            {"start": "2026-01-02T03:04:05Z", "region": "eu-central-1", "datacenter": "zone-1"},
            {
                "duration": 10_250,
                "start": "2026-01-02T03:04:05Z",
                "region": "REGION_EU_CENTRAL_1",
                "datacenter": "zone-1",
            },
        ),
        (
            {"start": "2026-01-02T03:04:05.500000Z", "stop": "2026-01-02T03:04:06Z", "region": "rack-7"},
            {
                "duration": 500,
                "start": "2026-01-02T03:04:05.500000Z",
                "stop": "2026-01-02T03:04:06Z",
                "region": "REGION_UNSPECIFIED",
            },
        ),
        ({"start": "not a time"}, {}),
    ],
)
def test_the_status_record(record: Part, expected: Part) -> None:
    run = present_run(RUNNING_X, {"broadcast": {"id": "x", "phase": "Running", **record}})
    assert status_record("c", "p", run, NOW) == {
        "collectionId": "c",
        "projectId": "p",
        "broadcastId": "x",
        "phase": "PROJECT_BROADCAST_PHASE_RUNNING",
        **expected,
    }


def test_before_any_broadcast_there_is_only_the_phase() -> None:
    assert status_record("c", "p", present_run({}, {}), NOW) == {
        "collectionId": "c",
        "projectId": "p",
        "phase": "PROJECT_BROADCAST_PHASE_NOT_RUNNING",
    }


def test_all_runs_are_known_in_their_order() -> None:
    runs = known_runs(wanted("Running", "z"), observed("Stopping", "y", previous="x"))
    assert [(run.id, run.phase) for run in runs] == [
        ("x", BroadcastPhase.ARCHIVED),
        ("y", BroadcastPhase.STOPPING),
        ("z", BroadcastPhase.WAITING),
    ]


@pytest.mark.parametrize(
    ("record", "phase"),
    [
        ({"phase": "Paused"}, BroadcastPhase.RUNNING),
        ({"phase": "Purged", "stop": "2026-05-01T10:00:00Z"}, BroadcastPhase.STOPPED),
    ],
)
def test_a_phase_that_only_a_newer_operator_knows_is_shown_by_whether_the_run_has_ended(
    record: Part, phase: BroadcastPhase
) -> None:
    status = {"broadcast": {"id": "x", **record}}
    assert present_run(RUNNING_X, status).phase is phase
    (before, present) = known_runs(RUNNING_X, {"previous": {"id": "w", **record}, **status})
    assert (before.phase, present.phase) == (phase, phase)
