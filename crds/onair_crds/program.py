"""The contract between operator and encoder: the wanted programme and its observed status.

`PUT /v1/program` takes a Program, whole and idempotent; `GET /v1/status`
answers an EncoderStatus, and with `?follow=1` streams one JSON line on every
transition and at least every 2 s. Both sides import these models, so neither
can drift. Durations are milliseconds, rates bits per second, times RFC 3339 UTC.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_serializer
from pydantic.alias_generators import to_camel

from onair_crds.enums import BroadcastError, ConnectState

CONTROL_PORT = 8443
METRICS_PORT = 9090
CONTROL_AUDIENCE = "onair-encoder"


class WireModel(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, use_attribute_docstrings=True
    )

    def wire(self) -> str:
        """The JSON text, camelCase, secrets in clear: for the wire and the memory volume alone."""
        return self.model_dump_json(by_alias=True, context={"reveal": True})


class ProgramVideo(WireModel):
    width: int
    height: int
    framerate: float
    profile: Literal["baseline", "main", "high"] = "high"
    bitrate_bps: int
    keyframe_interval_frames: int
    quality: Literal["standard", "high"] = "standard"


class ProgramAudio(WireModel):
    bitrate_bps: int = 128_000
    sample_rate_hz: int = 48_000
    channels: int = 2


class ProgramDestination(WireModel):
    """One enabled destination. `url` holds no key; `key` is joined to it on publishing."""

    id: str
    type: Literal["RTMP", "RTMPS", "SRT", "RTC", "HLS"]
    url: str
    key: SecretStr | None = None
    timeout_ms: int = 5000
    generation: int = 0
    """metadata.generation of the Destination; echoed in its status."""

    @field_serializer("key")
    def _key(self, value: SecretStr | None, info: object) -> str | None:
        context = getattr(info, "context", None) or {}
        if value is None:
            return None
        return value.get_secret_value() if context.get("reveal") else "**********"


class Program(WireModel):
    """All that an encoder pod is to do, complete in every request."""

    project: str
    broadcast: str
    epoch: int
    """An agent that has seen a higher epoch refuses this programme with 409."""
    revision: int = 0
    """Grows with every change that the operator pushes; echoed in the status."""
    composition_url: str
    video: ProgramVideo
    audio: ProgramAudio = ProgramAudio()
    destinations: list[ProgramDestination] = []
    stop_at: str | None = None
    """The programme ends by itself at this time, operator or not (`maxDuration`)."""
    stop: bool = False
    """End every stream properly and then finish."""


class DestinationState(WireModel):
    id: str
    connect: ConnectState
    since: str
    last_error: str | None = None
    attempts: int = 0
    """Connection attempts since the destination was added."""
    bytes_sent: int = 0
    generation: int = 0


EncoderPhase = Literal["idle", "starting", "running", "stopping", "finished"]


class EncoderStatus(WireModel):
    """What the encoder observes of itself."""

    phase: EncoderPhase
    broadcast: str | None = None
    epoch: int = 0
    revision: int = 0
    first_frame: str | None = None
    """When the first frame of the composition was encoded."""
    composition_error: str | None = None
    """Why the page cannot be shown, in words; absent while it is."""
    error: BroadcastError | None = None
    """Why the programme ended by itself."""
    destinations: list[DestinationState] = []
    frames: Annotated[int, Field(ge=0)] = 0
    bitrate_bps: Annotated[int, Field(ge=0)] = 0
    at: str = ""
    """When this status was made."""
