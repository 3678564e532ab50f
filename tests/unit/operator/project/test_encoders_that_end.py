"""Encoders are told that their run is over, even those that refuse the programme that says so."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from tests.support.plans import plan
from tests.support.worlds import NOW, encoder, held, pod, project, run, world

from onair_crds.contract.times import format_time
from onair_operator.cluster.actions import DeletePod, FollowEncoder, PushProgram, Requeue
from onair_operator.cluster.queue import Key
from onair_operator.encoder.observed import EncoderView, PodView
from onair_operator.project.encoders import OVERDUE_AFTER, STOP_WAIT
from onair_operator.project.observed import ObservedProject

STOPPED = run("Stopped", stop=format_time(NOW))
LOOK = Key("Project", "show")


def view(phase: str = "running", **extra: Any) -> EncoderView:
    told = {key: extra.pop(key) for key in ("stopped", "replaced", "silent_s") if key in extra}
    return replace(encoder(phase, **extra), ip="10.0.0.9", **told)


def ending(its_encoder: EncoderView | None, *, since_s: float = 0.5) -> ObservedProject:
    """A run that is being stopped for so long."""
    status = run(
        "Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW - dt.timedelta(seconds=since_s))
    )
    return observed(status, pod(), its_encoder)


def observed(status: Any, its_pod: PodView, its_encoder: EncoderView | None) -> ObservedProject:
    return world(
        project("Stopped", status={"broadcast": status}, metadata=held()),
        pods=[its_pod],
        encoders=[its_encoder] if its_encoder else [],
        certificates={"uid-pod-1": "pem"},
    )


def told(world_: ObservedProject) -> list[tuple[bool, bool]]:
    """Whether encoders are told that they are replaced, and that their run is over."""
    return [(a.replaced, a.stopped) for a in plan(world_) if isinstance(a, FollowEncoder)]


@pytest.mark.parametrize(
    ("its_encoder", "since_s", "is_told"),
    [
        (view(), 0.5, []),
        (view(refused="HTTP 400"), 0.0, [(False, True)]),
        (view("starting", refused="HTTP 400"), 0.0, [(False, True)]),
        (view("idle", refused="HTTP 400"), 0.0, [(False, True)]),
        (view(refused="HTTP 400", stopped=True), 5.0, []),
        (view(), STOP_WAIT.total_seconds(), [(False, True)]),
        (view("stopping"), 9.0, []),
        (view("stopping", refused="HTTP 400"), 9.0, []),
        (None, 9.0, [(False, False)]),
        (EncoderView("uid-pod-1", connected=False, status=None, ip="10.0.0.9", silent_s=1.0), 9.0, []),
        (
            EncoderView("uid-pod-1", connected=False, status=None, ip="10.0.0.9", silent_s=5.0),
            9.0,
            [(False, True)],
        ),
    ],
    ids=[
        *("it has just been handed its stop", "refuses it", "while it starts", "without a programme"),
        *("has been told", "late", "ends its streams", "ends them, and refuses what comes late"),
        *("a new leader does not follow it yet", "is yet to report", "its reports cannot be read"),
    ],
)
def test_an_encoder_that_does_not_take_the_programme_that_stops_it_is_told_besides(
    its_encoder: EncoderView | None, since_s: float, is_told: list[tuple[bool, bool]]
) -> None:
    world_ = ending(its_encoder, since_s=since_s)
    assert told(world_) == is_told
    assert any(isinstance(a, PushProgram) and a.program.stop for a in plan(world_))


def test_it_is_looked_at_when_the_programme_should_have_arrived() -> None:
    assert Requeue(LOOK, 2.5) in plan(ending(view()))
    late = plan(ending(view(stopped=True), since_s=3.0))
    assert [a.after_s for a in late if isinstance(a, Requeue)] == [7.0]


def test_an_encoder_on_air_is_not_stopped_for_a_programme_that_it_refuses() -> None:
    on_air = run("Running", encoder="uid-pod-1", start=format_time(NOW))
    show = project(status={"broadcast": on_air}, metadata=held())
    views = [view(refused="HTTP 400")]
    assert told(world(show, pods=[pod()], encoders=views, certificates={"uid-pod-1": "pem"})) == []


def test_one_that_stores_the_recordings_of_an_earlier_run_is_stopped_though_another_one_is_on_air() -> None:
    draining = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW), drains=True)
    next_run = run("Running", id="next", encoder="uid-next", start=format_time(NOW))
    show = project(id="next", status={"broadcast": next_run, "draining": [draining]}, metadata=held())
    both = [pod(), pod(id="next", uid="uid-next")]
    views = [view(refused="HTTP 400"), replace(view(id="next"), pod_uid="uid-next")]
    certificates = {"uid-pod-1": "pem", "uid-next": "pem"}
    world_ = world(show, pods=both, encoders=views, certificates=certificates)
    assert [a for a in plan(world_) if isinstance(a, FollowEncoder)] == [
        FollowEncoder("show", pod(), "pem", stopped=True)
    ]


@pytest.mark.parametrize("phase", ["running", "stopping"])
def test_an_encoder_of_a_run_that_was_given_up_closes_its_recordings_while_nobody_takes_its_place(
    phase: str,
) -> None:
    """It may be older, and not know how to stop without its programme: then it ends with its pod."""
    given_up = observed(STOPPED, pod(), view(phase, refused="HTTP 400"))
    assert told(given_up) == [(False, True)]
    assert any(isinstance(a, DeletePod) for a in plan(given_up))
    leaving = observed(STOPPED, pod(deleting=True, gone_by=NOW), None)
    assert told(leaving) == [(False, True)], "of a leader that does not follow it yet"


def test_one_whose_node_does_not_hear_that_its_pod_is_deleted_yields_in_the_end() -> None:
    def left(s: float, phase: str = "running", **extra: Any) -> ObservedProject:
        its_pod = pod(deleting=True, gone_by=NOW - OVERDUE_AFTER + dt.timedelta(seconds=s))
        return observed(STOPPED, its_pod, view(phase, stopped=True, **extra))

    assert told(left(2.0)) == []
    assert Requeue(LOOK, 2.0) in plan(left(2.0))
    assert told(left(0.0)) == [(True, False)]
    assert told(left(0.0, replaced=True)) == []
    assert told(left(-60.0, "stopping")) == [], "it stores what waits of its recordings"


def test_one_that_the_run_had_replaced_yields_after_the_run_too() -> None:
    status = run("Stopped", epoch=2, stop=format_time(NOW))
    both = [pod(deleting=True), pod(2)]
    certificates = {"uid-pod-1": "pem", "uid-pod-2": "pem"}
    show = project("Stopped", status={"broadcast": status}, metadata=held())
    world_ = world(show, pods=both, certificates=certificates)
    assert [a for a in plan(world_) if isinstance(a, FollowEncoder)] == [
        FollowEncoder("show", both[0], "pem", replaced=True),
        FollowEncoder("show", both[1], "pem", stopped=True),
    ]
