"""Plans the encoders of a project: one publishes, and those that it replaces have yielded before. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from onair_crds.contract.times import parse_time
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.cluster.actions import (
    Action,
    CreatePod,
    DeletePod,
    DeleteSecret,
    DropEncoder,
    FollowEncoder,
    Requeue,
)
from onair_operator.cluster.queue import Key
from onair_operator.encoder.naming import pod_name
from onair_operator.encoder.observed import PodView
from onair_operator.project.broadcast_state_machine import BroadcastStep, on_the_way
from onair_operator.project.encoder_loss import may_create
from onair_operator.project.observed import ObservedProject

YIELD_WAIT = dt.timedelta(seconds=3)
"""For encoders that are replaced and can be reached; they close their streams within 2 s."""
STOP_WAIT = dt.timedelta(seconds=3)
"""For the programme that says that a run is over; an encoder that has not taken it then is told besides."""
OVERDUE_AFTER = dt.timedelta(seconds=5)
"""Beyond a deleted pod's grace period, by the API server's clock: its node has not heard of the deletion."""
UNSTOPPED = ("idle", "starting", "running")
"""Phases of an encoder that has not heard that its run is over."""


def wanted_pod(observed: ObservedProject, step: BroadcastStep) -> PodView | None:
    """The pod of the run as it is next: the claimed one, or the one that ends its streams."""
    broadcast = step.broadcast
    if broadcast is None or not on_the_way(broadcast):
        return None
    return observed.claimed_pod(broadcast) if broadcast.phase.active else observed.ending_pod(broadcast)


def draining_pods(observed: ObservedProject, step: BroadcastStep) -> list[PodView]:
    """The pods of ended runs that store recordings."""
    pods = (observed.ending_pod(run) for run in step.draining)
    return [pod for pod in pods if pod]


def follow_encoders(observed: ObservedProject, step: BroadcastStep, now: dt.datetime) -> Iterator[Action]:
    """Follows the claimed pod of a run, and every other of the project's until its encoder has yielded.

    Of an earlier run that stores recordings, until that has ended. So it is with a run that was given up
    before its encoder had ended: while nobody takes its place it has the time to close its recordings.
    """
    wanted, draining = wanted_pod(observed, step), draining_pods(observed, step)
    last = None if on_the_way(step.broadcast) else _left_over(observed, step.broadcast, now)
    # An encoder that is being deleted continues until there is another one.
    has_successor = wanted is not None or not on_the_way(step.broadcast)
    unheard = [pod for run, pod in _ending(observed, step) if _stop_is_unheard(observed, run, pod, now)]
    for pod in observed.pods:
        replaced = pod is not wanted and has_successor and pod not in draining and pod is not last
        stopped = pod is last or pod in unheard
        followed = observed.encoders.get(pod.uid)
        if pod is not wanted and observed.over(pod):
            if followed:
                yield DropEncoder(pod.uid)
            continue
        certificate = observed.certificates.get(pod.uid)
        told = followed and (followed.replaced or not replaced) and (followed.stopped or not stopped)
        news = followed is None or followed.ip != pod.ip or not told
        if pod.ip and certificate and news:
            yield FollowEncoder(observed.project.name, pod, certificate, replaced, stopped)
    yield from _look_again(observed, step, last, now)


def _ending(observed: ObservedProject, step: BroadcastStep) -> Iterator[tuple[BroadcastStatus, PodView]]:
    """The runs whose encoders end their streams, with those pods."""
    run = step.broadcast
    runs = (run, *step.draining) if run and run.phase is BroadcastPhase.STOPPING else step.draining
    for each in runs:
        if pod := observed.ending_pod(each):
            yield each, pod


def _stop_is_unheard(observed: ObservedProject, run: BroadcastStatus, pod: PodView, now: dt.datetime) -> bool:
    """Whether the encoder does not take the programme that stops it, or has not for so long."""
    encoder = observed.encoders.get(pod.uid)
    if encoder is None or (encoder.status and encoder.status.phase not in UNSTOPPED):
        return False
    late = _since_stop(run, now) >= STOP_WAIT and not encoder.awaited
    return late or encoder.refused is not None


def _since_stop(run: BroadcastStatus, now: dt.datetime) -> dt.timedelta:
    return now - (parse_time(run.stop_requested) if run.stop_requested else now)


def _left_over(observed: ObservedProject, ended: BroadcastStatus | None, now: dt.datetime) -> PodView | None:
    """The pod that is to end the streams of a run that is over.

    None once it is overdue and still publishes: an encoder of before does not know how to end without
    its pod, so it has to yield.
    """
    pod = observed.ending_pod(ended) if ended else None
    if pod and pod.gone_by and now >= pod.gone_by + OVERDUE_AFTER and _publishes(observed, pod):
        return None
    return pod


def _look_again(
    observed: ObservedProject, step: BroadcastStep, last: PodView | None, now: dt.datetime
) -> Iterator[Action]:
    """When an encoder that is in touch should have heard of its stop, or ended with its pod."""
    waits = [
        STOP_WAIT - _since_stop(run, now)
        for run, pod in _ending(observed, step)
        if _publishes(observed, pod) and not _stop_is_unheard(observed, run, pod, now)
    ]
    if last and last.gone_by and _publishes(observed, last):
        waits.append(last.gone_by + OVERDUE_AFTER - now)
    if waits:
        yield Requeue(Key(observed.project.kind, observed.project.name), min(waits).total_seconds())


def _publishes(observed: ObservedProject, pod: PodView) -> bool:
    """Whether the pod's encoder is in touch and goes on, as it has not heard of its end."""
    encoder = observed.encoders.get(pod.uid)
    status = encoder.status if encoder and encoder.connected else None
    return status is not None and status.phase in UNSTOPPED


def create_and_delete_pods(
    observed: ObservedProject, step: BroadcastStep, now: dt.datetime
) -> Iterator[Action]:
    """Creates the claimed pod, and deletes every other with what is left of it.

    One whose encoder may be on air stays until its successor is there, unless it takes the place of that.
    """
    broadcast = step.broadcast if on_the_way(step.broadcast) else None
    wanted = wanted_pod(observed, step)
    stay = [wanted, *draining_pods(observed, step)]
    others = [pod for pod in observed.pods if pod not in stay and not pod.deleting]
    if broadcast and broadcast.phase.active and wanted is None:
        yield from _succeed(observed, broadcast, others, now)
    else:
        yield from map(_delete, others)
    kept = {broadcast.pod if broadcast else None, *(pod.name for pod in observed.pods)}
    for name, uid in observed.identities.items():
        if name not in kept:
            yield DeleteSecret(name, uid)


def _succeed(
    observed: ObservedProject, broadcast: BroadcastStatus, others: list[PodView], now: dt.datetime
) -> Iterator[Action]:
    """Creates the claimed pod once it is due. Those that stay until then are deleted once it is there."""
    name = broadcast.pod or pod_name(observed.project.name, broadcast.id, broadcast.epoch)
    refusal = observed.refusal if observed.refusal and observed.refusal.pod == name else None
    due = may_create(broadcast, now)
    if due and refusal is None:
        kept = others
    elif refusal and refusal.quota:
        kept = []
    else:
        kept = [pod for pod in others if pod.broadcast == broadcast.id and may_be_on_air(observed, pod)]
    yield from (_delete(pod) for pod in others if pod not in kept)
    if due:
        yield CreatePod(name, observed.project, broadcast.id, broadcast.epoch, observed.dead_nodes)


def _delete(pod: PodView) -> DeletePod:
    return DeletePod(pod.name, pod.uid)


def may_be_on_air(observed: ObservedProject, pod: PodView) -> bool:
    """Whether the pod's encoder delivers, as far as is known: one that cannot be reached may go on."""
    if pod.ip is None or observed.over(pod):
        return False
    encoder = observed.encoders.get(pod.uid)
    if encoder is None or not encoder.connected:
        return pod.failure is None
    status = encoder.status
    return status is not None and status.phase == "running" and status.encode_error is None


def unyielded_s(
    observed: ObservedProject,
    step: BroadcastStep,
    claimed: PodView,
    broadcast: BroadcastStatus,
    now: dt.datetime,
) -> float:
    """How long the claimed encoder has to wait at most until others that respond have yielded.

    Those that store recordings have ended all other streams, and do not yield.
    """
    encoder = observed.encoders.get(claimed.uid)
    if broadcast.claimed is None or (encoder and encoder.status and encoder.status.destinations):
        return 0.0
    stay = {claimed.uid, *(pod.uid for pod in draining_pods(observed, step))}
    others = [other for uid, other in observed.encoders.items() if uid not in stay]
    if not any(other.connected and not other.over for other in others):
        return 0.0
    return max(0.0, (parse_time(broadcast.claimed) + YIELD_WAIT - now).total_seconds())
