"""Conditions with a reason a program can match and a sentence a user can act on. Pure."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from onair_crds.contract.times import format_time
from onair_crds.resources.base import MAX_TEXT, Condition
from onair_crds.resources.enums import BroadcastError, BroadcastPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.cost import cost_of
from onair_operator.observed import Observed
from onair_operator.placement import regions_by_distance
from onair_operator.settings import OperatorSettings

READY = "Ready"


@dataclass(frozen=True)
class Verdict:
    """The content of a Ready condition."""

    ready: bool
    reason: str
    message: str = ""


def project_verdict(
    observed: Observed, broadcast: BroadcastStatus | None, settings: OperatorSettings
) -> Verdict:
    """Whether the project is as it is wanted, else the first thing that stands in the way."""
    if observed.collection is None:
        return Verdict(
            False, "CollectionNotFound", f"Collection {observed.project.spec.collection_id} does not exist"
        )
    if broadcast is None:
        return Verdict(True, "NotRunning", "not on air")
    match broadcast.phase:
        case BroadcastPhase.WAITING:
            return _waiting(observed, broadcast, settings)
        case BroadcastPhase.STARTING:
            return _starting(observed, broadcast)
        case BroadcastPhase.RUNNING:
            return _composition_error(observed, broadcast) or Verdict(True, "OnAir", "on air")
        case BroadcastPhase.STOPPING:
            return Verdict(False, "Stopping", "streams are being ended")
        case _:
            return _ended(broadcast)


def _waiting(observed: Observed, broadcast: BroadcastStatus, settings: OperatorSettings) -> Verdict:
    pod = observed.claimed_pod(broadcast)
    if pod and pod.unschedulable:
        rendering = observed.project.spec.rendering
        video = rendering.video
        cost = cost_of(rendering, settings.encoder.cost)
        names = [r.name for r in regions_by_distance(observed.project.spec.location, settings.regions)]
        where = f"no node of {'region' if len(names) == 1 else 'regions'} {', '.join(names)}"
        return Verdict(
            False,
            "NoCapacity",
            f"{where if names else 'no node'} has {cost.cores:.1f} CPU and"
            f" {cost.browser_memory_mib + cost.encoder_memory_mib} MiB free"
            f" (needed by {video.width}×{video.height}@{video.framerate:g}); queued."
            f" The scheduler says: {pod.unschedulable}",
        )
    return Verdict(False, "Waiting", "waiting for a node")


def _starting(observed: Observed, broadcast: BroadcastStatus) -> Verdict:
    pod = observed.claimed_pod(broadcast)
    if pod and pod.failure:
        return Verdict(False, *pod.failure)
    return _composition_error(observed, broadcast) or Verdict(
        False, "Starting", "the encoder is starting; no frame is out yet"
    )


def _composition_error(observed: Observed, broadcast: BroadcastStatus) -> Verdict | None:
    encoder = observed.encoder_of(broadcast)
    if encoder and encoder.status and encoder.status.composition_error:
        return Verdict(False, "CompositionUnreachable", encoder.status.composition_error)
    return None


def _ended(broadcast: BroadcastStatus) -> Verdict:
    match broadcast.error:
        case BroadcastError.DURATION_EXCEEDED:
            return Verdict(
                False,
                "DurationExceeded",
                "the broadcast reached maxDuration; start a new run by a new broadcast.id,"
                " or by Stopped and then Running",
            )
        case BroadcastError.INTERNAL:
            return Verdict(
                False,
                "EncoderFailed",
                "encoders were lost again and again; see the events, then start a new run",
            )
        case _:
            return Verdict(True, "Stopped", "the last broadcast has ended")


def with_ready(
    conditions: list[Condition], verdict: Verdict, generation: int, now: dt.datetime
) -> list[Condition]:
    """The conditions with Ready as judged; its transition time moves only when its status does."""
    status = "True" if verdict.ready else "False"
    before = next((c for c in conditions if c.type == READY), None)
    ready = Condition(
        type=READY,
        status=status,
        reason=verdict.reason,
        message=verdict.message[:MAX_TEXT],
        observed_generation=generation,
        last_transition_time=(
            before.last_transition_time if before and before.status == status else format_time(now)
        ),
    )
    return [ready, *(c for c in conditions if c.type != READY)]
