"""What a destination's status should say, from what its encoder reports. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.program import DestinationState
from onair_crds.contract.times import format_time
from onair_crds.resources.base import MAX_TEXT
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.project import BroadcastStatus, DestinationCounts
from onair_operator.conditions import Verdict, with_ready
from onair_operator.observed import Observed
from onair_operator.wanted_destination import Refusal, program_destination


def destination_status(
    destination: Destination, observed: Observed, broadcast: BroadcastStatus | None, now: dt.datetime
) -> DestinationStatus:
    """The next status; the present one where nothing new is known, as after a restart of the operator."""
    before = destination.status
    connect = before.connect or ConnectState.DISCONNECTED
    since, last_error = before.since, before.last_error
    on_air = broadcast is not None and broadcast.phase.active and destination.spec.enabled
    refusal = program_destination(destination, observed)
    state = _state_of(destination, observed, broadcast) if on_air and broadcast else None
    if not on_air:
        connect, last_error = ConnectState.DISCONNECTED, None
    elif isinstance(refusal, Refusal):
        connect, last_error = ConnectState.DISCONNECTED, refusal.message
    elif state:
        connect, since, last_error = state.connect, state.since, state.last_error
    elif broadcast and _encoder_is_gone(observed, broadcast):
        connect, last_error = ConnectState.DISCONNECTED, "the encoder is lost and being replaced"
    if state is None and (connect is not before.connect or since is None):
        since = format_time(now)
    verdict = _verdict(destination, connect, last_error, on_air, refusal)
    return DestinationStatus(
        observed_generation=destination.generation,
        conditions=with_ready(before.conditions, verdict, destination.generation, now),
        type=destination.type,
        connect=connect,
        since=since,
        last_error=last_error[:MAX_TEXT] if last_error else None,
    )


def _state_of(
    destination: Destination, observed: Observed, broadcast: BroadcastStatus
) -> DestinationState | None:
    encoder = observed.encoder_of(broadcast)
    if not (encoder and encoder.status and encoder.status.broadcast == broadcast.id):
        return None
    return next((s for s in encoder.status.destinations if s.id == destination.name), None)


def _encoder_is_gone(observed: Observed, broadcast: BroadcastStatus) -> bool:
    pod = observed.claimed_pod(broadcast)
    return pod is None or pod.gone


def _verdict(
    destination: Destination,
    connect: ConnectState,
    last_error: str | None,
    on_air: bool,
    refusal: object,
) -> Verdict:
    if isinstance(refusal, Refusal):
        return Verdict(False, refusal.reason, refusal.message)
    if not destination.spec.enabled:
        return Verdict(True, "Disabled", "nothing is sent here")
    if not on_air:
        return Verdict(True, "NotRunning", "the project is not on air")
    if connect is ConnectState.CONNECTED:
        return Verdict(True, "Connected", "media flows")
    return Verdict(False, "Disconnected", last_error or "connecting")


def unowned_status(destination: Destination, now: dt.datetime) -> DestinationStatus:
    """The status of a destination whose project does not exist (yet)."""
    verdict = Verdict(False, "ProjectNotFound", f"Project {destination.spec.project_id} does not exist")
    before = destination.status
    disconnected = before.connect is ConnectState.DISCONNECTED
    return DestinationStatus(
        observed_generation=destination.generation,
        conditions=with_ready(before.conditions, verdict, destination.generation, now),
        type=destination.type,
        connect=ConnectState.DISCONNECTED,
        since=before.since if disconnected and before.since else format_time(now),
    )


def count(statuses: dict[str, DestinationStatus], destinations: tuple[Destination, ...]) -> DestinationCounts:
    """How many of the enabled destinations are reached."""
    enabled = [d for d in destinations if d.spec.enabled and not d.deleting]
    connected = sum(statuses[d.name].connect is ConnectState.CONNECTED for d in enabled)
    return DestinationCounts(connected=connected, total=len(enabled), summary=f"{connected}/{len(enabled)}")
