"""Judges whether a project is as its spec wants it, in sentences that a user can act on. Pure."""

from __future__ import annotations

from onair_crds.resources.enums import BroadcastError, BroadcastPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.encoder.cost import cost_of
from onair_operator.encoder.placement import regions_by_distance
from onair_operator.project.observed import ObservedProject
from onair_operator.settings import OperatorSettings
from onair_operator.specs.ready import Verdict


def project_verdict(
    observed: ObservedProject, broadcast: BroadcastStatus | None, settings: OperatorSettings
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


def _waiting(observed: ObservedProject, broadcast: BroadcastStatus, settings: OperatorSettings) -> Verdict:
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


def _starting(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict:
    pod = observed.claimed_pod(broadcast)
    if pod and pod.failure:
        return Verdict(False, *pod.failure)
    return _composition_error(observed, broadcast) or Verdict(
        False, "Starting", "the encoder is starting; no frame is out yet"
    )


def _composition_error(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict | None:
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
