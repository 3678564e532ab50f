"""The end of a run: until when its encoder is waited for, and what begins beside one that stores."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from tests.support.plans import broadcast_of, kinds, plan, released, settled, status_of
from tests.support.worlds import NOW, delivering, destination, encoder, held, on_air, pod, project, run, world

from onair_crds.contract.times import format_time
from onair_crds.resources.project import MAX_DRAINING_RUNS
from onair_crds.shapes import Document
from onair_operator.cluster.actions import (
    CreatePod,
    DeletePod,
    FollowEncoder,
    PushProgram,
    Requeue,
    ResourceEvent,
)
from onair_operator.encoder.observed import EncoderView, PodView
from onair_operator.project.observed import ObservedProject

STOPPING = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW - dt.timedelta(seconds=2)))
NEVER_DRAINED = run(
    "Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW - dt.timedelta(seconds=611))
)
BACKLOG = delivering().model_copy(update={"waiting_s": 34.0})
OVERDUE = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW - dt.timedelta(seconds=11)))


SEEN_TO_STORE = {**OVERDUE, "drains": True}


@pytest.mark.parametrize(
    ("broadcast", "pods", "its_encoder", "after"),
    [
        (STOPPING, [pod()], encoder("stopping"), "Stopping"),
        (STOPPING, [pod()], None, "Stopping"),
        (STOPPING, [pod()], encoder("finished"), "Stopped"),
        (STOPPING, [], None, "Stopped"),
        (STOPPING, [pod(node=None, ip=None)], None, "Stopped"),
        (OVERDUE, [pod()], encoder("stopping"), "Stopped"),
        (OVERDUE, [pod()], encoder("stopping", destinations=[BACKLOG]), "Stopping"),
        (OVERDUE, [pod()], encoder("stopping", removed_waiting_s=34.0), "Stopping"),
        (OVERDUE, [pod()], encoder("finished", destinations=[BACKLOG]), "Stopped"),
        (NEVER_DRAINED, [pod()], encoder("stopping", destinations=[BACKLOG]), "Stopped"),
        (SEEN_TO_STORE, [pod()], encoder("stopping", destinations=[delivering()]), "Stopping"),
        (SEEN_TO_STORE, [pod()], encoder("idle", id=""), "Stopping"),
    ],
    ids=[
        *("still ending", "no status", "ended", "no pod", "never placed", "takes too long"),
        *("stores what waits of a recording", "of one that is no longer wanted"),
        *("has given that up", "takes too long for that too"),
        *("stored, and its agent has restarted", "stored, and its agent restarts"),
    ],
)
def test_stopping_ends(broadcast: Any, pods: Any, its_encoder: Any, after: str) -> None:
    show = project("Stopped", status={"broadcast": broadcast}, metadata=held())
    observed = world(show, pods=pods, encoders=[its_encoder] if its_encoder else [])
    assert broadcast_of(observed).phase == after
    ended = after == "Stopped"
    assert (released(observed)) is ended
    assert any(isinstance(a, DeletePod) for a in plan(observed)) is (ended and bool(pods))


UNSEEN = EncoderView("uid-pod-1", connected=False, status=None)
UNREACHABLE = EncoderView("uid-pod-1", connected=False, status=None, silent_s=5.0)


@pytest.mark.parametrize(
    ("broadcast", "its_pod", "its_encoder", "after"),
    [
        (OVERDUE, pod(), None, "Stopping"),
        (OVERDUE, pod(), UNSEEN, "Stopping"),
        (STOPPING, pod(deleting=True), None, "Stopping"),
        (STOPPING, pod(deleting=True), UNSEEN, "Stopping"),
        (OVERDUE, pod(), UNREACHABLE, "Stopped"),
        (STOPPING, pod(deleting=True), UNREACHABLE, "Stopped"),
        (OVERDUE, pod(phase="Succeeded"), None, "Stopped"),
        (NEVER_DRAINED, pod(), UNSEEN, "Stopped"),
    ],
)
def test_a_new_leader_waits_for_a_word_of_the_encoder_that_ends_its_streams(
    broadcast: Any, its_pod: PodView, its_encoder: EncoderView | None, after: str
) -> None:
    show = project("Stopped", status={"broadcast": broadcast}, metadata=held())
    views = [its_encoder] if its_encoder else []
    observed = world(show, pods=[its_pod], encoders=views, certificates={"uid-pod-1": "pem"})
    assert broadcast_of(observed).phase == after
    waits = [a.after_s for a in plan(observed) if isinstance(a, Requeue)]
    assert after == "Stopped" or waits == [1.0]


STORED = BACKLOG.model_copy(update={"waiting_s": 0.0})
ENDED = delivering("live", "Disconnected")
ON_AIR = delivering("live")
DRAINING = run(
    "Stopping",
    encoder="uid-pod-1",
    stopRequested=format_time(NOW - dt.timedelta(minutes=2)),
    drains=True,
)
NEXT = pod(id="next", uid="uid-next")


JUST_SILENT = replace(encoder("stopping"), connected=False, silent_s=0.2)


@pytest.mark.parametrize(
    ("its_pod", "its_encoder", "after"),
    [
        (pod(deleting=True), JUST_SILENT, "Stopping"),
        (pod(deleting=True), replace(JUST_SILENT, silent_s=5.0), "Stopped"),
        (pod(), replace(JUST_SILENT, silent_s=5.0), "Stopping"),
    ],
    ids=["its connection has just broken", "silent for long", "silent, and nobody deletes it"],
)
def test_a_broken_connection_to_an_encoder_that_is_being_deleted_is_not_its_end(
    its_pod: PodView, its_encoder: EncoderView, after: str
) -> None:
    show = project("Stopped", status={"broadcast": STOPPING}, metadata=held())
    observed = world(show, pods=[its_pod], encoders=[its_encoder])
    assert broadcast_of(observed).phase == after
    waits = [a.after_s for a in plan(observed) if isinstance(a, Requeue)]
    if its_pod.deleting and after == "Stopping":
        assert waits == [1.0], "the pod may be gone with its node, so nobody says when it has ended"


def ending(*streams: Any, phase: str = "stopping", **extra: Any) -> ObservedProject:
    """A run that ends while another one is wanted."""
    return world(
        project(**{"id": "next", "status": {"broadcast": STOPPING}, "metadata": held(), **extra}),
        pods=[pod()],
        encoders=[encoder(phase, destinations=list(streams))],
        certificates={"uid-pod-1": "pem"},
    )


def beside(
    *streams: Any,
    phase: str = "stopping",
    draining: Document = DRAINING,
    broadcast: Document | None = None,
    **extra: Any,
) -> ObservedProject:
    """The next run, with an earlier one that stores recordings."""
    now_on = broadcast or run("Waiting", "next", encoder="uid-next")
    view = replace(encoder(phase, destinations=list(streams)), ip="10.0.0.9")
    status = {"broadcast": now_on, "draining": [draining]}
    return world(
        project(**{"id": "next", "status": status, "metadata": held(), **extra}),
        pods=[pod(), NEXT],
        destinations=[destination()],
        encoders=[view],
        certificates={"uid-pod-1": "pem", "uid-next": "pem"},
    )


@pytest.mark.parametrize(
    ("streams", "begins"),
    [
        ([BACKLOG], True),
        ([BACKLOG, ENDED], True),
        ([BACKLOG, ON_AIR], False),
        ([STORED, ENDED], False),
        ([], False),
    ],
    ids=["it only stores", "its streams have ended", "a stream is open", "nothing waits", "nothing is known"],
)
def test_the_next_run_begins_at_once_beside_an_encoder_that_only_stores_recordings(
    streams: list[Any], begins: bool
) -> None:
    observed = ending(*streams)
    assert (CreatePod("show-next-1", observed.project, "next", 1) in plan(observed)) is begins
    assert broadcast_of(observed).phase == ("Waiting" if begins else "Stopping")


def test_the_run_that_stores_its_recordings_has_ended_for_those_who_watch_it() -> None:
    observed = ending(BACKLOG)
    status = status_of(observed)
    assert status.previous is not None
    assert (status.previous.id, status.previous.phase, status.previous.stop) == (
        "run",
        "Archived",
        format_time(NOW),
    )
    assert [each.manifest() for each in status.draining or []] == [{**STOPPING, "drains": True}]
    told = [(a.reason, a.message) for a in plan(observed) if isinstance(a, ResourceEvent)]
    assert told[0] == ("Stopped", "broadcast run has ended; its recordings are still being stored")
    assert told[1][0] == "BroadcastRequested"


def test_an_encoder_that_stores_recordings_neither_yields_nor_goes_when_the_next_run_begins() -> None:
    observed = ending(BACKLOG)
    assert DeletePod not in kinds(observed)
    assert not any(isinstance(a, FollowEncoder) and a.replaced for a in plan(observed))


def test_an_encoder_that_stores_recordings_is_followed_and_told_to_end_by_a_new_leader() -> None:
    observed = replace(beside(BACKLOG), encoders={})
    assert FollowEncoder("show", pod(), "pem", replaced=False) in plan(observed)
    (push,) = [a for a in plan(observed) if isinstance(a, PushProgram) and a.pod_uid == "uid-pod-1"]
    assert (push.program.broadcast, push.program.stop) == ("run", True)
    assert [each.id for each in status_of(observed).draining or []] == ["run"]


def test_the_next_encoder_waits_for_none_that_stores_recordings() -> None:
    claimed = run("Starting", "next", encoder="uid-next", claimed=format_time(NOW))
    observed = beside(BACKLOG, broadcast=claimed)
    (push,) = [a for a in plan(observed) if isinstance(a, PushProgram) and a.pod_uid == "uid-next"]
    assert [each.id for each in push.program.destinations] == ["main"]


@pytest.mark.parametrize(
    ("observed", "event"),
    [
        (beside(STORED, phase="finished"), "RecordingsStored: the recordings of broadcast run are stored"),
        (
            beside(STORED.model_copy(update={"missing_s": 12.0}), phase="finished"),
            (
                "RecordingIncomplete: recordings of broadcast run are incomplete:"
                " that of destination main lacks 12.0 s"
            ),
        ),
        (
            beside(BACKLOG, draining=NEVER_DRAINED),
            "RecordingIncomplete: the encoder of broadcast run ended before it had stored its recordings",
        ),
    ],
    ids=["all is stored", "some is missing", "out of time"],
)
def test_an_encoder_that_has_stored_its_recordings_is_deleted_and_the_outcome_told(
    observed: ObservedProject, event: str
) -> None:
    assert status_of(observed).draining is None
    assert DeletePod("show-run-1", "uid-pod-1") in plan(observed)
    assert event in [f"{a.reason}: {a.message}" for a in plan(observed) if isinstance(a, ResourceEvent)]
    assert broadcast_of(observed).id == "next"


def test_a_project_is_not_gone_before_its_recordings_are_stored() -> None:
    over = run("Stopped", "next", stop=format_time(NOW), stopObserved=True)
    deleted = held(deletionTimestamp="2026-05-01T12:00:00Z")
    assert not released(beside(BACKLOG, broadcast=over, metadata=deleted))
    assert released(beside(STORED, phase="finished", broadcast=over, metadata=deleted))


def test_a_third_run_begins_while_both_before_it_store_their_recordings() -> None:
    second = run("Stopping", "next", encoder="uid-next", stopRequested=format_time(NOW))
    observed = beside(BACKLOG, broadcast=second, id="third")
    views = {
        **observed.encoders,
        "uid-next": EncoderView(
            "uid-next", True, encoder("stopping", id="next", destinations=[BACKLOG]).status
        ),
    }
    observed = replace(observed, encoders=views)
    assert [each.id for each in status_of(observed).draining or []] == ["run", "next"]
    assert broadcast_of(observed).id == "third"
    assert DeletePod not in kinds(observed)


def test_only_so_many_runs_store_their_recordings_at_a_time() -> None:
    observed = ending(BACKLOG)
    status = observed.project.status.model_copy(update={"draining": [observed.broadcast] * MAX_DRAINING_RUNS})
    full = replace(observed, project=observed.project.model_copy(update={"status": status}))
    assert broadcast_of(full).phase == "Stopping"


def test_a_world_with_a_draining_run_comes_to_rest() -> None:
    observed = settled(settled(beside(BACKLOG, broadcast=on_air(id="next", encoder="uid-next"))))
    rest = [a for a in plan(observed) if not isinstance(a, Requeue | FollowEncoder)]
    assert rest == []
