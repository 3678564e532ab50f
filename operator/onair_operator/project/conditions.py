"""Judges whether a project is as its spec wants it, in sentences that a user can act on. Pure."""

from __future__ import annotations

from onair_crds.resources.enums import BroadcastError, BroadcastPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.project.capacity import no_capacity
from onair_operator.project.new_run import is_new_run, wanted_on_air
from onair_operator.project.observed import ObservedProject
from onair_operator.scene.conditions import no_layout
from onair_operator.settings import OperatorSettings
from onair_operator.specs.ready import ON_AIR, READY, Verdict


def project_verdict(
    observed: ObservedProject,
    broadcast: BroadcastStatus | None,
    settings: OperatorSettings,
    held: str | None = None,
) -> Verdict:
    """Whether the project is as it should be, else the first thing that prevents it.

    Args:
        held: the source whose run waits for room within a quota.
    """
    if observed.invalid:
        return _invalid(observed.invalid, broadcast)
    if observed.collection is None:
        return Verdict(
            False, "CollectionNotFound", f"Collection {observed.project.spec.collection_id} does not exist"
        )
    if held and observed.used_up:
        text = f"source {held} has connected, and its broadcast starts once there is room: {observed.used_up}"
        return Verdict(False, "QuotaExceeded", text)
    if broadcast is None:
        return Verdict(True, "NotRunning", "not on air")
    match broadcast.phase:
        case BroadcastPhase.WAITING:
            obstacle = no_capacity(observed, broadcast, settings) or _pod_refused(observed, broadcast)
            return obstacle or Verdict(False, "Waiting", "waiting for a node")
        case BroadcastPhase.STARTING:
            return no_capacity(observed, broadcast, settings) or _starting(observed, broadcast)
        case BroadcastPhase.RUNNING:
            return _refused(observed, broadcast) or _running(observed, broadcast, settings)
        case BroadcastPhase.STOPPING:
            return _refused(observed, broadcast) or Verdict(False, "Stopping", "streams are being ended")
        case _:
            return (
                _ended(broadcast)
                or _ended_by_source(observed, broadcast)
                or _used_id(observed)
                or Verdict(True, "Stopped", "the last broadcast has ended")
            )


def _invalid(rules: str, broadcast: BroadcastStatus | None) -> Verdict:
    on_air = broadcast is not None and broadcast.phase.active
    so = "the broadcast continues as it was" if on_air else "not on air"
    return Verdict(False, "Invalid", f"{so}, as the project breaks a rule; correct {rules}")


def _pod_refused(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict | None:
    refusal = observed.refusal
    if refusal and refusal.told and refusal.pod == broadcast.pod and not observed.claimed_pod(broadcast):
        does, says = "refuses", f"It says: {refusal.message}"
        if refusal.unanswered:
            does, says = "does not respond to the request", "An admission webhook of it may hang"
        return Verdict(
            False, "PodRefused", f"the cluster {does} to create the encoder's pod; retrying. {says}"
        )
    return None


def _starting(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict:
    obstacle = (
        _container_failure(observed, broadcast)
        or _pod_refused(observed, broadcast)
        or _refused(observed, broadcast)
        or _composition_error(observed, broadcast)
    )
    return obstacle or Verdict(False, "Starting", "the encoder is starting; no frame has been sent yet")


def _refused(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict | None:
    encoder = observed.encoder_of(broadcast)
    if encoder and encoder.refused:
        return Verdict(
            False,
            "ProgramRefused",
            f"the encoder refuses the present programme; it may be of another version: {encoder.refused}",
        )
    return None


def _running(observed: ObservedProject, broadcast: BroadcastStatus, settings: OperatorSettings) -> Verdict:
    return (
        _container_failure(observed, broadcast)
        or _composition_error(observed, broadcast)
        or _on_slate(observed, broadcast)
        or no_layout(observed.project.spec.composition, broadcast.layout, observed.scene, settings)
        or _page_on_air(observed, broadcast, READY)
    )


def on_air_verdict(observed: ObservedProject, broadcast: BroadcastStatus | None, ready: Verdict) -> Verdict:
    """Whether the page itself is on air; what the project's verdict says where nothing is."""
    if broadcast and broadcast.phase is BroadcastPhase.RUNNING:
        return _page_on_air(observed, broadcast, ON_AIR)
    return Verdict(False, ready.reason, ready.message)


def _on_slate(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict | None:
    encoder = observed.encoder_of(broadcast)
    if encoder and encoder.status and encoder.status.on_slate:
        why = encoder.status.composition_error or "no video comes from the page"
        return Verdict(False, "Slate", f"the slate is on air: {why}")
    return None


def _page_on_air(observed: ObservedProject, broadcast: BroadcastStatus, condition: str) -> Verdict:
    """What the encoder says; the condition stays as it is while it has said nothing to a new leader."""
    encoder = observed.encoder_of(broadcast)
    if encoder is None or encoder.status is None:
        kept = _present(observed, condition)
        if kept:
            return kept
    return _on_slate(observed, broadcast) or Verdict(True, "OnAir", "on air")


def _present(observed: ObservedProject, condition: str) -> Verdict | None:
    before = next((each for each in observed.project.status.conditions if each.type == condition), None)
    return Verdict(before.status == "True", before.reason, before.message) if before else None


def _container_failure(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict | None:
    pod = observed.claimed_pod(broadcast)
    return Verdict(False, *pod.failure) if pod and pod.failure else None


def _composition_error(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict | None:
    encoder = observed.encoder_of(broadcast)
    if encoder and encoder.status and encoder.status.composition_error:
        return Verdict(False, "CompositionUnreachable", encoder.status.composition_error)
    return None


def _ended(broadcast: BroadcastStatus) -> Verdict | None:
    """Why the last run ended by itself, or by a source, if so."""
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
                "several encoders in a row were lost; see the Events, then start a new run",
            )
        case _:
            return None


def _ended_by_source(observed: ObservedProject, broadcast: BroadcastStatus) -> Verdict | None:
    """That nothing but a source ended the last run, which the spec may want still."""
    if broadcast.stopped_by and observed.project.spec.broadcast.id in (None, broadcast.id):
        return Verdict(
            True, "Stopped", f"source {broadcast.stopped_by} disconnected, and so ended the broadcast"
        )
    return None


def _used_id(observed: ObservedProject) -> Verdict | None:
    """Whether a run is wanted that has been already."""
    wanted, status = observed.project.spec.broadcast, observed.project.status
    if wanted.id is None or not wanted_on_air(observed) or is_new_run(wanted, status):
        return None
    return Verdict(
        False,
        "BroadcastIdUsed",
        f"broadcast.id {wanted.id} belongs to a run that has ended; set a new id, or remove it",
    )
