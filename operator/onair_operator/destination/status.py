"""The status of a destination, from what its encoder reports. Pure."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from onair_crds.contract.program import DestinationState, ProgramDestination
from onair_crds.contract.times import format_time
from onair_crds.resources.base import MAX_TEXT
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_crds.resources.enums import ConnectState
from onair_operator.destination.conflict import CONFLICTED
from onair_operator.destination.incomplete_recording import missing_ms, with_recording
from onair_operator.destination.program_destinations import KEPT_REASONS, DestinationRefusal
from onair_operator.destination.storage_token import EXPIRED
from onair_operator.specs.ready import Verdict, with_ready


@dataclass(frozen=True)
class DeliveryState:
    """The state of one destination in the project's broadcast."""

    on_air: bool
    """Whether a broadcast runs or starts; a disabled destination gets nothing of it."""
    state: DestinationState | None = None
    """As the encoder reports it; None while it has not."""
    encoder_gone: bool = False
    missing_s: float | None = None
    """Seconds that the broadcast's recording lacks, on air and after it; None if it is not known."""
    several_encoders: bool = False
    """Whether the broadcast has had another encoder before the present one."""


def destination_status(
    destination: Destination,
    program: ProgramDestination | DestinationRefusal,
    delivery: DeliveryState,
    now: dt.datetime,
    expired: str | None = None,
) -> DestinationStatus:
    """The next status; the present one where nothing new is known, as after a restart of the operator.

    Args:
        expired: that its token should have been replaced, as a sentence.
    """
    before = destination.status
    connect = before.connect or ConnectState.DISCONNECTED
    since, last_error = before.since, before.last_error
    on_air = delivery.on_air and destination.spec.enabled
    state = delivery.state if on_air else None
    if not on_air:
        connect, last_error = ConnectState.DISCONNECTED, None
    elif isinstance(program, DestinationRefusal) and state and program.reason in KEPT_REASONS:
        program = DestinationRefusal(
            program.reason, f"{program.message}; the encoder continues with what it has"
        )
        connect, since, last_error = state.connect, state.since, state.last_error or program.message
    elif isinstance(program, DestinationRefusal):
        connect, last_error = ConnectState.DISCONNECTED, program.message
    elif state:
        connect, since, last_error = state.connect, state.since, state.last_error or expired
    elif delivery.encoder_gone:
        connect, last_error = ConnectState.DISCONNECTED, "the encoder is lost and being replaced"
    if state is None and (connect is not before.connect or since is None):
        since = format_time(now)
    verdict = _verdict(destination, program, connect, last_error, expired, on_air)
    return DestinationStatus(
        observed_generation=destination.generation,
        conditions=with_recording(
            with_ready(before.conditions, verdict, destination.generation, now),
            delivery.missing_s,
            destination.generation,
            now,
            several_encoders=delivery.several_encoders,
        ),
        type=destination.type,
        connect=connect,
        since=since,
        last_error=last_error[:MAX_TEXT] if last_error else None,
        recording_missing_ms=missing_ms(before.recording_missing_ms, delivery.missing_s),
    )


def _verdict(
    destination: Destination,
    program: ProgramDestination | DestinationRefusal,
    connect: ConnectState,
    last_error: str | None,
    expired: str | None,
    on_air: bool,
) -> Verdict:
    if isinstance(program, DestinationRefusal):
        return Verdict(False, program.reason, program.message)
    if not destination.spec.enabled:
        return Verdict(True, "Disabled", "nothing is sent here")
    if expired:
        return Verdict(False, EXPIRED, expired)
    if not on_air:
        return Verdict(True, "NotRunning", "the project is not on air")
    if connect is ConnectState.CONNECTED:
        return Verdict(True, "Connected", "media flows")
    return Verdict(False, "Disconnected", last_error or "connecting")


def status_without_project(destination: Destination, now: dt.datetime) -> DestinationStatus:
    """The status of a destination whose project does not exist (yet)."""
    verdict = Verdict(False, "ProjectNotFound", f"Project {destination.spec.project_id} does not exist")
    return _undelivered(destination, destination.type, verdict, now)


def status_of_invalid(
    destination: Destination, rules: str, reported: DestinationState | None, now: dt.datetime
) -> DestinationStatus:
    """The status of a destination that breaks these rules, so that its spec cannot be read.

    Args:
        reported: by an encoder that delivers to it, and continues.
    """
    if reported is None:
        verdict = Verdict(False, "Invalid", f"not delivered to, as it breaks a rule; correct {rules}")
        return _undelivered(destination, destination.status.type, verdict, now)
    text = f"it breaks a rule; the encoder continues with what it has; correct {rules}"
    verdict = Verdict(False, "Invalid", text)
    last_error = reported.last_error or text
    return destination.status.model_copy(
        update={
            "observed_generation": destination.generation,
            "conditions": with_ready(destination.status.conditions, verdict, destination.generation, now),
            "connect": reported.connect,
            "since": reported.since,
            "last_error": last_error[:MAX_TEXT],
        }
    )


def _undelivered(
    destination: Destination, type_: str | None, verdict: Verdict, now: dt.datetime
) -> DestinationStatus:
    before = destination.status
    disconnected = before.connect is ConnectState.DISCONNECTED
    conditions = [each for each in before.conditions if each.type != CONFLICTED]
    return DestinationStatus(
        observed_generation=destination.generation,
        conditions=with_ready(conditions, verdict, destination.generation, now),
        type=type_,
        connect=ConnectState.DISCONNECTED,
        since=before.since if disconnected and before.since else format_time(now),
        last_error=verdict.message[:MAX_TEXT],
        recording_missing_ms=before.recording_missing_ms,
    )
