"""The end of a run: how long its encoder ends streams, and stores recordings during the next run. Pure.

A run whose encoder only stores what waits of recordings does not hold up the next one: that gets an encoder
of its own, and the earlier run is remembered as draining (`docs/decisions/0067`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from onair_crds.contract.program import LONGEST_DRAIN_S
from onair_crds.contract.times import parse_time
from onair_crds.resources.project import MAX_DRAINING_RUNS, BroadcastStatus, Project
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.encoder.observed import EncoderView, PodView
from onair_operator.project.observed import ObservedProject
from onair_operator.settings import OperatorSettings

LOOK_AGAIN_S = 1.0
"""At an encoder that is yet to report: that it does not is no news by itself."""


@dataclass(frozen=True)
class Ending:
    """How far the end of a run has come."""

    over: bool
    """Nothing is left to be ended, or no time for it."""
    requeue_s: float | None = None
    """When to look again, if it is not over."""


def ending_of(
    observed: ObservedProject,
    run: BroadcastStatus,
    now: dt.datetime,
    settings: OperatorSettings,
) -> Ending:
    """How far the end of a run has come."""
    pod = observed.ending_pod(run)
    encoder = observed.encoders.get(pod.uid) if pod else None
    requested = parse_time(run.stop_requested) if run.stop_requested else now
    awaited = pod is not None and observed.awaited(pod)
    draining = bool(run.drains) or awaited
    grace_s = settings.broadcast.stop_grace_s + (LONGEST_DRAIN_S if draining else 0)
    remaining_s = grace_s - (now - requested).total_seconds()
    if pod is None or pod.node is None or remaining_s <= 0 or _has_ended(observed, pod, encoder):
        return Ending(over=True)
    silent = awaited or (pod.deleting and encoder is not None and not encoder.connected)
    return Ending(over=False, requeue_s=max(0.05, min(remaining_s, LOOK_AGAIN_S) if silent else remaining_s))


def _has_ended(observed: ObservedProject, pod: PodView, encoder: EncoderView | None) -> bool:
    """Whether the pod ends no stream any more; one that is being deleted does while it may respond.

    A connection that has just broken says nothing yet: the pod is gone soon if its encoder is.
    """
    gone = pod.deleting and not observed.may_respond(pod)
    return pod.over or (encoder is not None and encoder.over) or gone


def reports_backlog(observed: ObservedProject, run: BroadcastStatus) -> bool:
    """Whether the encoder says that it stores recordings; one whose agent has just restarted says it late."""
    pod = observed.ending_pod(run)
    encoder = observed.encoders.get(pod.uid) if pod else None
    return encoder is not None and encoder.status is not None and encoder.status.draining


def may_begin_beside(observed: ObservedProject, ending: BroadcastStatus) -> bool:
    """Whether another run may begin though this one has not ended: its encoder only stores recordings."""
    if len(observed.project.status.draining or ()) >= MAX_DRAINING_RUNS:
        return False
    pod = observed.ending_pod(ending)
    encoder = observed.encoders.get(pod.uid) if pod else None
    status = encoder.status if encoder else None
    return status is not None and status.broadcast == ending.id and status.only_drains


@dataclass(frozen=True)
class Draining:
    """The ended runs that store recordings from now on, the Events of the others, and when to look again."""

    runs: tuple[BroadcastStatus, ...]
    events: tuple[ResourceEvent, ...]
    requeue_s: float | None


def draining_runs(observed: ObservedProject, now: dt.datetime, settings: OperatorSettings) -> Draining:
    """Which of the ended runs still store recordings."""
    known = observed.project.status.draining or []
    endings = [(run, ending_of(observed, run, now, settings)) for run in known]
    return Draining(
        tuple(run for run, ending in endings if not ending.over),
        tuple(_drained(observed, run) for run, ending in endings if ending.over),
        min((ending.requeue_s for _, ending in endings if ending.requeue_s is not None), default=None),
    )


def _drained(observed: ObservedProject, run: BroadcastStatus) -> ResourceEvent:
    project = observed.project
    encoder = observed.encoder_of(run)
    if encoder is None or encoder.status is None or encoder.status.phase != "finished":
        return _incomplete(
            project, f"the encoder of broadcast {run.id} ended before it had stored its recordings"
        )
    lacks = [each for each in encoder.status.destinations if each.missing_s]
    if not lacks:
        return ResourceEvent(project, "RecordingsStored", f"the recordings of broadcast {run.id} are stored")
    missing = ", ".join(f"that of destination {each.id} lacks {each.missing_s:.1f} s" for each in lacks)
    return _incomplete(project, f"recordings of broadcast {run.id} are incomplete: {missing}")


def _incomplete(project: Project, message: str) -> ResourceEvent:
    return ResourceEvent(project, "RecordingIncomplete", message, warning=True)
