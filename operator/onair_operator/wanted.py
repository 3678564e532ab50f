"""The programme that a project's encoder is to carry out, from its resources. Pure."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import SecretStr

from onair_crds.base import SecretKeyRef
from onair_crds.destination import Destination
from onair_crds.program import Program, ProgramDestination, ProgramVideo
from onair_crds.project import BroadcastStatus
from onair_crds.rendering import target_bitrate_bps
from onair_operator.observed import Observed, format_time, parse_time
from onair_operator.settings import OperatorSettings

ProgramType = Literal["RTMP", "RTMPS", "SRT", "RTC", "HLS"]


@dataclass(frozen=True)
class Refusal:
    """Why a destination cannot be part of the programme: reason constant and sentence."""

    reason: str
    message: str


def wanted_program(
    observed: Observed, broadcast: BroadcastStatus, settings: OperatorSettings, *, stop: bool = False
) -> Program:
    """The whole programme of the present run and epoch. Destinations with unusable secrets are left out."""
    spec = observed.project.spec
    video = spec.rendering.video
    destinations = [
        program
        for destination in sorted(observed.destinations, key=lambda d: d.name)
        if destination.spec.enabled and not destination.deleting
        for program in [program_destination(destination, observed)]
        if isinstance(program, ProgramDestination)
    ]
    return Program(
        project=observed.project.name,
        broadcast=broadcast.id,
        epoch=broadcast.epoch,
        composition_url=(
            spec.composition.url(settings.renderer_url) if spec.composition else settings.renderer_url
        ),
        video=ProgramVideo(
            width=video.width,
            height=video.height,
            framerate=video.framerate,
            profile=cast(Literal["baseline", "main", "high"], spec.encoding.video.profile.value.lower()),
            bitrate_bps=target_bitrate_bps(spec.rendering, spec.encoding),
            keyframe_interval_frames=spec.encoding.video.rate_control.max_key_frame_interval,
            quality=cast(Literal["standard", "high"], spec.rendering.quality.value.lower()),
        ),
        destinations=destinations,
        stop_at=_stop_at(broadcast, spec.max_duration),
        stop=stop,
    )


def _stop_at(broadcast: BroadcastStatus, max_duration_ms: int) -> str | None:
    if not broadcast.start:
        return None
    return format_time(parse_time(broadcast.start) + dt.timedelta(milliseconds=max_duration_ms))


def program_destination(destination: Destination, observed: Observed) -> ProgramDestination | Refusal:
    """One destination as the encoder is to see it, or why it cannot be."""
    address = destination.spec.address
    reference: SecretKeyRef | None = None
    if address.rtmp_push:
        url, reference = address.rtmp_push.url, address.rtmp_push.key_secret_ref
    elif address.srt_push:
        url, reference = address.srt_push.url, address.srt_push.passphrase_secret_ref
    else:
        url = ""
    key = _secret_value(reference, observed) if reference else None
    if isinstance(key, Refusal):
        return key
    return ProgramDestination(
        id=destination.name,
        type=cast(ProgramType, destination.type),
        url=url,
        key=SecretStr(key) if key else None,
        timeout_ms=destination.spec.timeout,
        generation=destination.generation,
    )


def _secret_value(reference: SecretKeyRef, observed: Observed) -> str | Refusal:
    secret = observed.secrets.get(reference.name)
    if secret is None:
        return Refusal("SecretNotFound", f"Secret {reference.name} does not exist")
    if not secret.allowed:
        return Refusal(
            "SecretNotAllowed",
            f"Secret {reference.name} is of type {secret.type}; only onair.dev/credentials may be referenced",
        )
    value = secret.value(reference.key)
    if value is None:
        return Refusal("SecretKeyNotFound", f"Secret {reference.name} has no key {reference.key}")
    return value


def digest(program: Program) -> str:
    """Tells programmes apart whatever their revision."""
    return hashlib.sha256(program.model_copy(update={"revision": 0}).wire().encode()).hexdigest()
