"""Decides that an encoder is lost, why, and when and under which epoch the next one takes its place. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.backoff import backoff_s
from onair_crds.contract.times import format_time, parse_time
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.encoder.naming import pod_name
from onair_operator.encoder.observed import PodView
from onair_operator.project.observed import ObservedProject
from onair_operator.settings import OperatorSettings

MAX_RETRY_DELAY_S = 30.0
SET_UP_TIMEOUT = dt.timedelta(minutes=15)
"""A node's for a pod: its network and volumes, and the image, which a node may have to pull."""
STEADY = dt.timedelta(minutes=5)
"""An encoder that was there for less is followed by the next one with a pause, once that happens again."""


def loss_of(
    observed: ObservedProject,
    current: BroadcastStatus,
    pod: PodView | None,
    now: dt.datetime,
    settings: OperatorSettings,
) -> str | None:
    """Why the claimed encoder delivers nothing any more, if so."""
    if pod is None:
        return "its pod no longer exists" if current.encoder else None
    if pod.gone:
        why = f" ({pod.ended})" if pod.ended else ""
        return "its pod is being deleted" if pod.deleting else f"its pod has {pod.phase.lower()}{why}"
    encoder = observed.encoders.get(pod.uid)
    if encoder and encoder.yielded_place:
        return "it has yielded to another encoder"
    if pod.node in observed.dead_nodes and not (encoder and encoder.connected):
        return f"node {pod.node} is unreachable"
    remaining_s = until_given_up_s(observed, current, pod, now, settings)
    if remaining_s is not None and remaining_s <= 0:
        unset = f"node {pod.node} has not set up its pod"
        silent = f"it runs on node {pod.node} and does not respond"
        return pod.failure[1] if pod.failure else unset if pod.placed_since else silent
    status = encoder.status if encoder else None
    if status and status.broadcast == current.id and status.epoch == current.epoch:
        return status.encode_error
    return None


def until_given_up_s(
    observed: ObservedProject,
    current: BroadcastStatus,
    pod: PodView,
    now: dt.datetime,
    settings: OperatorSettings,
) -> float | None:
    """How much longer its containers or its node may fail to start it, or it may say nothing; None otherwise.

    One that never reported to this leader may have a programme of the one before: it yields, or is ended with
    its pod, as on a dead node.
    """
    timeout_s, encoder = settings.broadcast.container_timeout_s, observed.encoders.get(pod.uid)
    if pod.failing_since:
        return timeout_s - (now - pod.failing_since).total_seconds()
    if pod.placed_since:
        return (pod.placed_since + SET_UP_TIMEOUT - now).total_seconds()
    if current.phase is not BroadcastPhase.STARTING or not pod.running_since:
        return None
    if encoder and encoder.status is None and not encoder.connected:
        return timeout_s - min(encoder.silent_s, (now - pod.running_since).total_seconds())
    return None


def next_epoch(project: str, current: BroadcastStatus, now: dt.datetime) -> BroadcastStatus:
    """The record of the run with a claim of another encoder, and one more of those that were lost."""
    losses, interruptions = current.losses or 0, current.interruptions
    if current.phase is not BroadcastPhase.RUNNING:
        losses += 1
    elif current.claimed and now - parse_time(current.claimed) < STEADY:
        interruptions = (interruptions or 0) + 1
    else:
        interruptions = None
    epoch = current.epoch + 1
    placed = current.phase is not BroadcastPhase.WAITING
    return current.model_copy(
        update={
            "epoch": epoch,
            "phase": BroadcastPhase.STARTING if placed else BroadcastPhase.WAITING,
            "claimed": format_time(now),
            "losses": losses or None,
            "interruptions": interruptions,
            "encoder": None,
            "pod": pod_name(project, current.id, epoch),
            "node": None,
        }
    )


def retry_delay_s(lost: int) -> float:
    """How long a further encoder waits after so many lost in a row: one not at all, more ever longer."""
    return 0.0 if lost < 2 else backoff_s(lost - 2, 1.0, MAX_RETRY_DELAY_S)


def until_retry_s(current: BroadcastStatus, now: dt.datetime) -> float:
    """How long the next encoder still waits; 0 where it may be created."""
    if not current.claimed:
        return 0.0
    lost = (current.losses or 0) + (current.interruptions or 0)
    due = parse_time(current.claimed) + dt.timedelta(seconds=retry_delay_s(lost))
    return max(0.0, (due - now).total_seconds())


def may_create(current: BroadcastStatus, now: dt.datetime) -> bool:
    """Whether the claimed pod may be created now."""
    return current.encoder is None and until_retry_s(current, now) <= 0
