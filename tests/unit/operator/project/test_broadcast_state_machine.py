"""The state machine of a broadcast: what starts, replaces and ends a run."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from tests.support.plans import broadcast_of, kinds, plan, status_of
from tests.support.worlds import (
    NOW,
    encoder,
    held,
    on_air,
    pod,
    project,
    run,
    world,
)

from onair_crds.contract.times import format_time
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.shapes import Document
from onair_operator.cluster.actions import (
    CreatePod,
    DeletePod,
    PushProgram,
    ResourceEvent,
    SetFinalizer,
    WriteStatus,
)


def test_a_wanted_show_is_held_then_claimed_then_created() -> None:
    observed = world(project(id="run-1"))
    actions = [a for a in plan(observed) if not isinstance(a, ResourceEvent)]
    assert [type(a) for a in actions[:3]] == [SetFinalizer, WriteStatus, CreatePod]
    broadcast = broadcast_of(observed)
    assert (broadcast.id, broadcast.epoch, broadcast.phase) == ("run-1", 1, "Waiting")
    assert broadcast.pod == "show-run--1-1"
    assert actions[2] == CreatePod("show-run--1-1", observed.project, "run-1", 1)


def test_a_run_without_an_id_gets_one_and_always_the_same() -> None:
    assert broadcast_of(world(project())).id == broadcast_of(world(project())).id


@pytest.mark.parametrize(
    ("spec", "last", "starts"),
    [
        ({"id": "b"}, run("Stopped", "a"), True),
        ({"id": "a"}, run("Stopped", "a"), False),
        ({"id": "a"}, run("Stopped", "a", stopObserved=True), False),
        ({}, run("Stopped", "a"), False),
        ({}, run("Stopped", "a", stopObserved=True), True),
        ({}, run("Archived", "a", stopObserved=True), True),
        ({"id": "b"}, run("Archived", "a"), True),
        ({"stopped": "a"}, run("Stopped", "a"), True),
        ({"stopped": "a"}, run("Stopped", "b"), False),
    ],
    ids=[
        "a new id is a new run",
        "the same id never runs twice",
        "not even after Stopped",
        "GitOps applying Running again does not restart what ended by itself",
        "Stopped in between makes Running a new run",
        "an archived run does not stand in the way",
        "a new id after an archived run",
        "Running without an id after a stop over HTTP is a new run, however soon it came",
        "a stop of an earlier run says nothing of this one",
    ],
)
def test_runs_are_distinguished_by_their_id(spec: Document, last: Document, starts: bool) -> None:
    observed = world(project(**spec, status={"broadcast": last}))
    assert (CreatePod in kinds(observed)) is starts


def test_the_run_before_the_last_does_not_run_again_either() -> None:
    status = {"broadcast": run("Stopped", "b"), "previous": run("Archived", "a")}
    assert CreatePod not in kinds(world(project(id="a", status=status)))


def test_an_id_that_was_used_long_ago_does_not_run_again() -> None:
    status: Document = {"broadcast": run("Stopped", "run-1", stopObserved=True)}
    for number in range(2, 8):
        following = status_of(world(project(id=f"run-{number}", status=status)))
        assert following.broadcast is not None
        assert following.broadcast.id == f"run-{number}"
        ended = following.broadcast.model_copy(update={"phase": BroadcastPhase.STOPPED})
        status = following.model_copy(update={"broadcast": ended}).manifest()
    assert CreatePod not in kinds(world(project(id="run-1", status=status)))
    assert CreatePod in kinds(world(project(id="run-8", status=status)))


def test_a_run_that_a_stop_over_http_names_ends_although_running_is_wanted_again() -> None:
    observed = world(project(stopped="run", status={"broadcast": on_air()}, metadata=held()), pods=[pod()])
    assert broadcast_of(observed).phase == "Stopping"


def test_a_first_run_leaves_no_list_of_earlier_ones() -> None:
    status = status_of(world(project(id="a")))
    assert status.broadcast is not None
    assert "used" not in status.manifest()


def test_a_new_run_archives_the_last_one() -> None:
    status = status_of(world(project(id="b", status={"broadcast": run("Stopped", "a")})))
    assert status.previous is not None
    assert (status.previous.id, status.previous.phase) == ("a", "Archived")


def test_stopped_is_observed_once() -> None:
    observed = world(project("Stopped", status={"broadcast": run("Stopped", "a", stop=format_time(NOW))}))
    assert broadcast_of(observed).stop_observed is True


def test_a_stopped_run_is_archived_after_its_retention() -> None:
    stopped = run("Stopped", "a", stop=format_time(NOW - dt.timedelta(days=2)), stopObserved=True)
    assert broadcast_of(world(project("Stopped", status={"broadcast": stopped}))).phase == "Archived"


PHASES = [
    # broadcast before, pod, encoder, phase after
    (run("Waiting"), pod(node=None, ip=None), None, "Waiting"),
    (run("Waiting"), pod(ip=None), None, "Starting"),
    (run("Waiting"), pod(), encoder("starting"), "Starting"),
    (run("Starting", encoder="uid-pod-1"), pod(), encoder("starting"), "Starting"),
    (run("Starting", encoder="uid-pod-1"), pod(), encoder("running"), "Running"),
    (run("Starting", encoder="uid-pod-1"), pod(), encoder("running", id="another"), "Starting"),
    (run("Starting", "run", 2, encoder="uid-pod-2"), pod(2), encoder("running", epoch=1), "Starting"),
    (on_air(), pod(), encoder("running"), "Running"),
    (on_air(), pod(), None, "Running"),
    (on_air(), pod(), encoder("running", connected=False), "Running"),
]


@pytest.mark.parametrize(("before", "its_pod", "its_encoder", "after"), PHASES)
def test_phases_follow_pod_and_encoder(before: Any, its_pod: Any, its_encoder: Any, after: str) -> None:
    observed = world(
        project(status={"broadcast": before}, metadata=held()),
        pods=[its_pod],
        encoders=[its_encoder] if its_encoder else [],
    )
    assert broadcast_of(observed).phase == after


def test_a_running_broadcast_reports_when_and_where() -> None:
    observed = world(
        project(status={"broadcast": run("Waiting", encoder="uid-pod-1")}, metadata=held()),
        pods=[pod()],
        encoders=[encoder()],
    )
    broadcast = broadcast_of(observed)
    assert (broadcast.region, broadcast.datacenter) == ("eu-central-1", "eu-central-1a")
    assert broadcast.start == format_time(NOW - dt.timedelta(seconds=30))
    assert broadcast.encoder == "uid-pod-1"


def test_a_pod_of_an_older_epoch_is_deleted() -> None:
    status = {"broadcast": run("Starting", epoch=2, encoder="uid-pod-2")}
    observed = world(project(status=status, metadata=held()), pods=[pod(1), pod(2)])
    assert [a for a in plan(observed) if isinstance(a, DeletePod)] == [DeletePod("show-run-1", "uid-pod-1")]


def test_a_pod_made_before_a_crash_is_taken_up_and_not_made_twice() -> None:
    observed = world(project(status={"broadcast": run("Waiting")}, metadata=held()), pods=[pod()])
    assert CreatePod not in kinds(observed)
    assert broadcast_of(observed).encoder == "uid-pod-1"


def test_stopped_and_then_running_while_stopping_is_a_new_run() -> None:
    ending = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW), error="DurationExceeded")
    observed = world(project("Stopped", status={"broadcast": ending}, metadata=held()), pods=[pod()])
    seen = broadcast_of(observed)
    assert (seen.phase, seen.stop_observed) == ("Stopping", True)
    over = seen.model_copy(update={"phase": BroadcastPhase.STOPPED, "stop": format_time(NOW)})
    again = world(project("Running", status={"broadcast": over.manifest()}, metadata=held()))
    assert broadcast_of(again).phase == "Waiting"


ENDINGS = [
    ("stop", project("Stopped", status={"broadcast": on_air()}, metadata=held()), {}, None),
    (
        "deletion",
        project(status={"broadcast": on_air()}, metadata=held(deletionTimestamp="2026-05-01T12:00:00Z")),
        {},
        None,
    ),
    ("another id", project(id="new", status={"broadcast": on_air()}, metadata=held()), {}, None),
    ("collection gone", project(status={"broadcast": on_air()}, metadata=held()), {"collection": None}, None),
    (
        "maxDuration",
        project(status={"broadcast": on_air()}, metadata=held(), maxDuration=29_000),
        {},
        "DurationExceeded",
    ),
    (
        "the encoder's own end",
        project(status={"broadcast": on_air()}, metadata=held()),
        {"encoders": [encoder("finished", error="DurationExceeded")]},
        "DurationExceeded",
    ),
]


@pytest.mark.parametrize(("show", "extra", "error"), [e[1:] for e in ENDINGS], ids=[e[0] for e in ENDINGS])
def test_what_ends_a_run(show: Any, extra: Document, error: str | None) -> None:
    observed = world(show, pods=[pod()], **extra)
    broadcast = broadcast_of(observed)
    assert (broadcast.phase, broadcast.error) == ("Stopping", error)
    (push,) = [a for a in plan(observed) if isinstance(a, PushProgram)]
    assert push.program.stop is True
    assert not any(isinstance(a, DeletePod) for a in plan(observed))
