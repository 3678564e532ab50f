"""The state machine of a broadcast: what its status is next. Pure.

    NotRunning → Waiting → Starting → Running → Stopping → Stopped → Archived

One function per group of phases; each looks at the whole world and gives the
next record. A record that changes is written before anything is done about it.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from onair_crds.contract.times import format_time, parse_time
from onair_crds.resources.enums import BroadcastError, BroadcastPhase, BroadcastState
from onair_crds.resources.project import BroadcastStatus, TriggerState
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.encoder.observed import PodView
from onair_operator.project.encoder_loss import loss_of, next_epoch, until_given_up_s, until_retry_s
from onair_operator.project.ending import draining_runs, ending_of, may_begin_beside, reports_backlog
from onair_operator.project.new_run import (
    is_new_run,
    may_be_on_air,
    new_run,
    next_id,
    stop_is_seen,
    used_runs,
    used_with_called_off,
    wanted_on_air,
)
from onair_operator.project.observed import ObservedProject
from onair_operator.project.triggers import Turn, next_turn
from onair_operator.scene.default_layout import with_default_layout
from onair_operator.settings import OperatorSettings

QUOTA_RETRY_S = 10.0
"""Between two looks at a quota that a source's run waits for: other shows end without a word to this one."""


@dataclass(frozen=True)
class BroadcastStep:
    """The next record of the current and the previous run, what to report, and when to look again."""

    broadcast: BroadcastStatus | None
    previous: BroadcastStatus | None
    events: tuple[ResourceEvent, ...] = ()
    requeue_s: float | None = None
    used: list[str] | None = None
    """Fingerprints of the ids of earlier runs, where another one came to them."""
    triggers: list[TriggerState] | None = None
    """The states of sources that count from now on."""
    trigger_start: str | None = None
    """The source that starts another run once the present one has ended."""
    trigger_run: str | None = None
    """The id of that run."""
    held: bool = False
    """That source waits for room within a quota."""
    draining: tuple[BroadcastStatus, ...] = ()
    """Ended runs whose encoders store what waits of recordings."""


def next_step(observed: ObservedProject, now: dt.datetime, settings: OperatorSettings) -> BroadcastStep:
    """The next record of the project's broadcast."""
    turn = next_turn(observed, now, settings.triggers)
    step = _next_step(observed, turn, now, settings)
    former = draining_runs(observed, now, settings)
    begun = step.broadcast is not None and step.broadcast.phase.active
    start = turn.start if may_be_on_air(observed) and not begun else None
    held = observed.used_up is not None and start is not None and not on_the_way(step.broadcast)
    if held and not turn.start_is_connected:
        start, held = None, False
    waits = (step.requeue_s, turn.requeue_s, former.requeue_s, QUOTA_RETRY_S if held else None)
    return replace(
        step,
        broadcast=with_default_layout(step.broadcast, observed.scene),
        events=(*former.events, *step.events),
        draining=(*former.runs, *step.draining),
        requeue_s=min((wait for wait in waits if wait is not None), default=None),
        triggers=turn.states,
        trigger_start=start,
        trigger_run=(turn.run or next_id(observed)) if start else None,
        used=used_with_called_off(observed.project) if step.used is None else step.used,
        held=held,
    )


def _next_step(
    observed: ObservedProject, turn: Turn, now: dt.datetime, settings: OperatorSettings
) -> BroadcastStep:
    current = observed.broadcast
    if current is None or not (current.phase.active or current.phase is BroadcastPhase.STOPPING):
        return _idle(observed, turn, current, now, settings)
    if current.phase is BroadcastPhase.STOPPING:
        return _stopping(observed, turn, current, now, settings)
    return _active(observed, turn, current, now, settings)


def on_the_way(broadcast: BroadcastStatus | None) -> bool:
    """Whether the run has begun and not ended, so that it has an encoder or is to get one."""
    return broadcast is not None and (broadcast.phase.active or broadcast.phase is BroadcastPhase.STOPPING)


def has_encoders(step: BroadcastStep) -> bool:
    """Whether a run has not ended, or one that has still stores its recordings."""
    return on_the_way(step.broadcast) or bool(step.draining)


def _idle(
    observed: ObservedProject,
    turn: Turn,
    current: BroadcastStatus | None,
    now: dt.datetime,
    settings: OperatorSettings,
) -> BroadcastStep:
    project = observed.project
    previous = project.status.previous
    if begun := _next_run(observed, turn, now):
        return begun
    requeue_s = None
    if current and stop_is_seen(project) and not current.stop_observed:
        current = current.model_copy(update={"stop_observed": True})
    if current and current.phase is BroadcastPhase.STOPPED and current.stop:
        age_s = (now - parse_time(current.stop)).total_seconds()
        if age_s >= settings.broadcast.retention_s:
            current = current.model_copy(update={"phase": BroadcastPhase.ARCHIVED})
        else:
            requeue_s = settings.broadcast.retention_s - age_s
    return BroadcastStep(current, previous, requeue_s=requeue_s)


def _next_run(observed: ObservedProject, turn: Turn, now: dt.datetime) -> BroadcastStep | None:
    """The beginning of another run, if one is wanted."""
    project = observed.project
    if wanted_on_air(observed) and is_new_run(project.spec.broadcast, project.status):
        return _begin(observed, now)
    if turn.start and may_be_on_air(observed) and not observed.used_up:
        return _begin(observed, now, turn.start, turn.run)
    return None


def _begin(
    observed: ObservedProject, now: dt.datetime, started_by: str | None = None, run_id: str | None = None
) -> BroadcastStep:
    project, current = observed.project, observed.broadcast
    previous = project.status.previous
    if current:
        stop = current.stop or format_time(now)
        previous = current.model_copy(update={"phase": BroadcastPhase.ARCHIVED, "stop": stop})
    begun = new_run(observed, now, started_by, run_id)
    because = f": source {started_by} has connected" if started_by else ""
    event = ResourceEvent(project, "BroadcastRequested", f"broadcast {begun.id} is wanted{because}")
    return BroadcastStep(begun, previous, (event,), used=used_runs(observed))


def _active(
    observed: ObservedProject,
    turn: Turn,
    current: BroadcastStatus,
    now: dt.datetime,
    settings: OperatorSettings,
) -> BroadcastStep:
    previous = observed.project.status.previous
    if current.started_by and observed.project.spec.broadcast.state is BroadcastState.RUNNING:
        current = current.model_copy(update={"running_observed": True})
    if turn.stop:
        current = current.model_copy(update={"stopped_by": turn.stop})
        why = f"source {turn.stop} has disconnected"
        return BroadcastStep(*_stop(observed, current, now, None, why, previous=previous))
    if ending := _end_of(observed, current, now):
        return BroadcastStep(*_stop(observed, current, now, *ending, previous=previous))
    pod = observed.claimed_pod(current)
    if loss := loss_of(observed, current, pod, now, settings):
        return _replace(observed, current, now, loss, settings)
    if pod is None:
        return BroadcastStep(current, previous, requeue_s=until_retry_s(current, now) or None)
    following, events = _follow(observed, current, pod)
    given_up_s = until_given_up_s(observed, following, pod, now, settings)
    waits = (_until_deadline_s(observed, following, now), given_up_s)
    return BroadcastStep(
        following, previous, events, min((wait for wait in waits if wait is not None), default=None)
    )


def _end_of(
    observed: ObservedProject, current: BroadcastStatus, now: dt.datetime
) -> tuple[BroadcastError | None, str] | None:
    project, wanted = observed.project, observed.project.spec.broadcast
    if project.deleting:
        return None, "the project is being deleted"
    if observed.collection is None or observed.collection.deleting:
        return None, "its collection was deleted"
    if observed.refusal and observed.refusal.final and observed.refusal.pod == current.pod:
        return None, "its namespace is being deleted"
    if wanted.stopped == current.id or (wanted.state is BroadcastState.STOPPED and _by_spec(current)):
        return None, "a stop was requested"
    another = wanted.id not in (None, current.id) and observed.invalid is None
    if another and (current.started_by is None or is_new_run(wanted, project.status)):
        return None, f"another run, {wanted.id}, is wanted"
    encoder = observed.encoder_of(current)
    if encoder and encoder.status and encoder.status.broadcast == current.id and encoder.status.error:
        return encoder.status.error, "the encoder ended the programme"
    remaining_s = _until_deadline_s(observed, current, now)
    if remaining_s is not None and remaining_s <= 0:
        return BroadcastError.DURATION_EXCEEDED, "maxDuration is reached"
    return None


def _by_spec(current: BroadcastStatus) -> bool:
    """Whether the spec has wanted this run, so that it also ends it: a source may have started it."""
    return current.started_by is None or bool(current.running_observed)


def _until_deadline_s(observed: ObservedProject, current: BroadcastStatus, now: dt.datetime) -> float | None:
    if not current.start:
        return None
    end = parse_time(current.start) + dt.timedelta(milliseconds=observed.project.spec.max_duration)
    return (end - now).total_seconds()


def _stop(
    observed: ObservedProject,
    current: BroadcastStatus,
    now: dt.datetime,
    error: BroadcastError | None,
    why: str,
    previous: BroadcastStatus | None,
) -> tuple[BroadcastStatus, BroadcastStatus | None, tuple[ResourceEvent, ...]]:
    project = observed.project
    wanted = project.spec.broadcast
    asked = wanted.state is BroadcastState.STOPPED or wanted.stopped == current.id
    stopping = current.model_copy(
        update={
            "phase": BroadcastPhase.STOPPING,
            "stop_requested": format_time(now),
            "error": error,
            "stop_observed": True if asked else current.stop_observed,
        }
    )
    return (
        stopping,
        previous,
        (ResourceEvent(project, "Stopping", f"broadcast {current.id}: {why}", warning=bool(error)),),
    )


def _replace(
    observed: ObservedProject,
    current: BroadcastStatus,
    now: dt.datetime,
    loss: str,
    settings: OperatorSettings,
) -> BroadcastStep:
    previous = observed.project.status.previous
    replaced = next_epoch(observed.project.name, current, now)
    if (replaced.losses or 0) > settings.broadcast.max_losses:
        why = f"{replaced.losses} encoders in a row were lost, the last because {loss}"
        return BroadcastStep(*_stop(observed, current, now, BroadcastError.INTERNAL, why, previous=previous))
    event = ResourceEvent(
        observed.project, "EncoderLost", f"encoder {current.pod} is lost: {loss}; replacing it", warning=True
    )
    return BroadcastStep(replaced, previous, (event,))


def _follow(
    observed: ObservedProject, current: BroadcastStatus, pod: PodView
) -> tuple[BroadcastStatus, tuple[ResourceEvent, ...]]:
    update: dict[str, object] = {"encoder": pod.uid}
    events: list[ResourceEvent] = []
    phase = current.phase
    if pod.node and pod.node != current.node:
        node = observed.nodes.get(pod.node)
        update |= {
            "node": pod.node,
            "region": node.region if node else None,
            "datacenter": node.zone if node else None,
        }
        events.append(
            ResourceEvent(observed.project, "Placed", f"encoder {pod.name} runs on node {pod.node}")
        )
    if pod.node and phase is BroadcastPhase.WAITING:
        phase = BroadcastPhase.STARTING
    encoder = observed.encoder_of(current)
    status = encoder.status if encoder else None
    is_of_this = status and status.broadcast == current.id and status.epoch == current.epoch
    if status and is_of_this and status.phase == "running" and status.first_frame:
        if phase is not BroadcastPhase.RUNNING:
            again = current.start is not None
            text = "is on air again" if again else "is on air"
            events.append(ResourceEvent(observed.project, "OnAir", f"broadcast {current.id} {text}"))
        phase = BroadcastPhase.RUNNING
        update |= {"start": current.start or status.first_frame, "losses": None}
    update["phase"] = phase
    return current.model_copy(update=update), tuple(events)


def _stopping(
    observed: ObservedProject,
    turn: Turn,
    current: BroadcastStatus,
    now: dt.datetime,
    settings: OperatorSettings,
) -> BroadcastStep:
    previous = observed.project.status.previous
    if stop_is_seen(observed.project) and not current.stop_observed:
        current = current.model_copy(update={"stop_observed": True})
    if reports_backlog(observed, current) and not current.drains:
        current = current.model_copy(update={"drains": True})
    ending = ending_of(observed, current, now, settings)
    if ending.over:
        stopped = current.model_copy(
            update={"phase": BroadcastPhase.STOPPED, "stop": format_time(now), "encoder": None}
        )
        return BroadcastStep(stopped, previous, (_stopped(observed, current),))
    if may_begin_beside(observed, current) and (begun := _next_run(observed, turn, now)):
        storing = _stopped(observed, current, "; its recordings are still being stored")
        return replace(begun, events=(storing, *begun.events), draining=(current,))
    return BroadcastStep(current, previous, requeue_s=ending.requeue_s)


def _stopped(observed: ObservedProject, ended: BroadcastStatus, but: str = "") -> ResourceEvent:
    because = f" with the error {ended.error}" if ended.error else ""
    return ResourceEvent(observed.project, "Stopped", f"broadcast {ended.id} has ended{because}{but}")
