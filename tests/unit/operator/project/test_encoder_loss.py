"""Which encoders are lost, and when the next one takes their place."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from tests.support.plans import broadcast_of, kinds, plan
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
from onair_operator.cluster.actions import (
    CreatePod,
    Requeue,
    ResourceEvent,
)
from onair_operator.encoder.observed import EncoderView
from onair_operator.project.encoder_loss import MAX_RETRY_DELAY_S, SET_UP_TIMEOUT, retry_delay_s
from onair_operator.project.observed import ObservedProject


@pytest.mark.parametrize(
    "gone",
    [[], [pod(deleting=True)], [pod(phase="Failed")], [pod(phase="Succeeded")]],
    ids=["vanished", "being deleted", "failed", "succeeded"],
)
def test_a_lost_encoder_is_replaced_under_the_same_id_and_the_next_epoch(gone: list[Any]) -> None:
    observed = world(project(status={"broadcast": on_air()}, metadata=held()), pods=gone)
    broadcast = broadcast_of(observed)
    assert (broadcast.id, broadcast.epoch, broadcast.phase) == ("run", 2, "Starting")
    assert broadcast.start == on_air()["start"]
    assert CreatePod("show-run-2", observed.project, "run", 2) in plan(observed)
    assert any(isinstance(a, ResourceEvent) and a.reason == "EncoderLost" for a in plan(observed))


def test_it_says_why_a_node_refused_or_ended_a_pod() -> None:
    refused = pod(phase="Failed", ended="SMTAlignmentError: not a multiple of the threads of a core")
    show = project(status={"broadcast": on_air()}, metadata=held())
    (lost,) = [
        each
        for each in plan(world(show, pods=[refused]))
        if isinstance(each, ResourceEvent) and each.reason == "EncoderLost"
    ]
    assert "its pod has failed (SMTAlignmentError: not a multiple of the threads of a core)" in lost.message


def test_an_encoder_on_a_dead_node_is_replaced_but_a_silent_one_is_not() -> None:
    silent = encoder(connected=False)
    show = project(status={"broadcast": on_air()}, metadata=held())
    assert broadcast_of(world(show, pods=[pod()], encoders=[silent])).epoch == 1
    dead = world(show, pods=[pod()], encoders=[silent], dead_nodes=frozenset({"node-eu"}))
    assert broadcast_of(dead).epoch == 2
    assert CreatePod("show-run-2", dead.project, "run", 2, frozenset({"node-eu"})) in plan(dead)
    speaking = world(show, pods=[pod()], encoders=[encoder()], dead_nodes=frozenset({"node-eu"}))
    assert broadcast_of(speaking).epoch == 1


@pytest.mark.parametrize(("phase", "losses"), [("Waiting", 5), ("Starting", 5), ("Running", 4)])
def test_an_encoder_whose_containers_cannot_start_is_waited_for_and_then_replaced(
    phase: str, losses: int
) -> None:
    """Those that never came on air count towards the end of the run."""

    def failing(for_s: float) -> ObservedProject:
        since = NOW - dt.timedelta(seconds=for_s)
        failing_pod = pod(failure=("ImagePullFailed", "onair/encoder: not found"), failing_since=since)
        broadcast = run(phase, encoder="uid-pod-1", losses=4)
        return world(project(status={"broadcast": broadcast}, metadata=held()), pods=[failing_pod])

    assert broadcast_of(failing(100)).epoch == 1
    (look_again,) = [a for a in plan(failing(100)) if isinstance(a, Requeue)]
    assert look_again.after_s == pytest.approx(20)
    replaced = broadcast_of(failing(120))
    assert (replaced.epoch, replaced.losses) == (2, losses)
    (lost,) = [a for a in plan(failing(120)) if isinstance(a, ResourceEvent) and a.reason == "EncoderLost"]
    assert "onair/encoder: not found" in lost.message


def test_an_encoder_that_says_it_cannot_encode_is_replaced() -> None:
    show = project(status={"broadcast": on_air()}, metadata=held())
    hopeless = encoder(on_slate=True, encode_error="ffmpeg hung or ended 6 times in a row")
    assert broadcast_of(world(show, pods=[pod()], encoders=[hopeless])).epoch == 2
    of_another_run = encoder(id="before", encode_error="ffmpeg hung or ended 6 times in a row")
    assert broadcast_of(world(show, pods=[pod()], encoders=[of_another_run])).epoch == 1


def test_encoders_lost_again_and_again_wait_and_then_end_the_run() -> None:
    def losing(losses: int) -> ObservedProject:
        claimed = format_time(NOW - dt.timedelta(seconds=1))
        status = {"broadcast": run("Starting", encoder="uid-pod-1", losses=losses, claimed=claimed)}
        return world(project(status=status, metadata=held()))

    assert CreatePod in kinds(losing(0))
    assert CreatePod not in kinds(losing(3))
    assert broadcast_of(losing(5)).phase == "Stopping"
    assert broadcast_of(losing(5)).error == "Internal"


def evicted(interruptions: int | None, since_claim: dt.timedelta) -> ObservedProject:
    """An encoder that was on air is gone, so long after its claim."""
    status = on_air(claimed=format_time(NOW - since_claim), interruptions=interruptions)
    return world(project(status={"broadcast": status}, metadata=held()))


def test_encoders_that_run_and_are_evicted_again_and_again_wait_but_never_end_the_run() -> None:
    pauses_s = []
    for interruptions in (None, 1, 2, 3, 9):
        replaced = broadcast_of(evicted(interruptions, dt.timedelta(seconds=40)))
        assert (replaced.phase, replaced.losses) == ("Starting", None)
        pauses_s.append(retry_delay_s(replaced.interruptions or 0))
    assert pauses_s == [0, 1, 2, 4, 30]


def test_an_encoder_that_was_on_air_for_long_is_replaced_at_once() -> None:
    observed = evicted(5, dt.timedelta(minutes=6))
    assert broadcast_of(observed).interruptions is None
    assert CreatePod in kinds(observed)


def test_an_interruption_delays_the_next_encoder() -> None:
    status = run("Starting", epoch=4, claimed=format_time(NOW), interruptions=3)
    observed = world(project(status={"broadcast": status}, metadata=held()))
    assert CreatePod not in kinds(observed)
    assert CreatePod in [type(a) for a in plan(observed, NOW + dt.timedelta(seconds=2))]


def test_a_run_whose_encoders_are_lost_all_night_is_retried_still() -> None:
    assert retry_delay_s(2000) == MAX_RETRY_DELAY_S


@pytest.mark.parametrize("phase", ["Waiting", "Starting", "Running"])
def test_an_encoder_that_its_node_does_not_set_up_is_waited_for_and_then_replaced(phase: str) -> None:
    """Its network or a volume is missing: no container has a reason of its own."""
    show = project(status={"broadcast": run(phase, encoder="uid-pod-1")}, metadata=held())

    def after(seconds: float) -> ObservedProject:
        since = NOW - dt.timedelta(seconds=seconds)
        return world(show, pods=[pod(phase="Pending", ip=None, placed_since=since)])

    limit_s = SET_UP_TIMEOUT.total_seconds()
    waits = [each.after_s for each in plan(after(limit_s - 1)) if isinstance(each, Requeue)]
    assert broadcast_of(after(limit_s - 1)).epoch == 1
    assert min(waits) == pytest.approx(1.0)
    assert broadcast_of(after(limit_s)).epoch == 2
    events = [each.message for each in plan(after(limit_s)) if isinstance(each, ResourceEvent)]
    assert any("node node-eu has not set up its pod" in each for each in events)


def test_an_encoder_that_never_reports_is_waited_for_and_then_replaced() -> None:
    """Its containers run, and nothing comes through to it, or its agent hangs."""

    def silent(for_s: float, running_s: float, phase: str = "Starting", **changes: Any) -> ObservedProject:
        view = replace(EncoderView("uid-pod-1", connected=False, status=None, silent_s=for_s), **changes)
        started = pod(running_since=NOW - dt.timedelta(seconds=running_s))
        show = project(status={"broadcast": run(phase, encoder="uid-pod-1")}, metadata=held())
        return world(show, pods=[started], encoders=[view])

    waiting = plan(silent(100, 100))
    assert min(each.after_s for each in waiting if isinstance(each, Requeue)) == pytest.approx(20)
    assert broadcast_of(silent(100, 100)).epoch == 1
    lost = silent(120, 120)
    assert (broadcast_of(lost).epoch, broadcast_of(lost).losses) == (2, 1)
    events = [each.message for each in plan(lost) if isinstance(each, ResourceEvent)]
    assert any("it runs on node node-eu and does not respond" in each for each in events)
    for waited_for in (
        silent(600, 10),
        silent(10, 600),
        silent(600, 600, phase="Running"),
        silent(0, 600, connected=True),
        silent(600, 600, status=encoder(phase="idle").status),
    ):
        assert broadcast_of(waited_for).epoch == 1
