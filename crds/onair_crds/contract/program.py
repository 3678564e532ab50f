"""The contract between operator and encoder: the wanted programme and its observed status.

`PUT /v1/program` takes a Program, whole and idempotent; `GET /v1/status`
gives an EncoderStatus, and with `?follow=1` streams one JSON line on every
transition and at least every 2 s; `PUT /v1/contact` takes a Contact every 3 s.
Both sides import these models, so neither can drift. Durations are milliseconds,
rates bits per second, times RFC 3339 UTC.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from onair_crds.contract.inside_addresses import EVERYWHERE, InsideRules
from onair_crds.contract.scene import ProgramScene
from onair_crds.contract.wire_model import Secret, WireModel
from onair_crds.resources.destination import (
    DEFAULT_FILE_COUNT,
    DEFAULT_PLAYLIST_COUNT,
    DEFAULT_SEGMENT_DURATION_MS,
    DEFAULT_TIMEOUT_MS,
)
from onair_crds.resources.enums import BroadcastError, ConnectState
from onair_crds.resources.values import read_unknown_as


class ProgramVideo(WireModel):
    """How the video is rendered and encoded."""

    width: int
    height: int
    framerate: float
    profile: Literal["baseline", "main", "high"] = "high"
    bitrate_bps: int
    keyframe_interval_frames: int
    quality: Literal["standard", "high"] = "standard"


class ProgramAudio(WireModel):
    """How the audio is encoded."""

    bitrate_bps: int = 128_000
    sample_rate_hz: int = 48_000
    channels: int = 2


class ProgramStorage(WireModel):
    """A bucket, and how the programme is packaged into it by HLS."""

    region: str
    bucket: str
    prefix: str = ""
    access_key: Secret
    secret_key: Secret
    token: Secret | None = None
    """Session token, for credentials of limited life."""
    acl: str | None = None
    """Canned ACL as S3 names it, such as `public-read`. None: the bucket's own."""
    endpoint: str | None = None
    """http(s) address of a storage provider other than AWS."""
    vod: bool = False
    """Keep everything and close the playlist at the end; otherwise a sliding window."""
    max_duration_ms: int = 0
    """vod: longest recording; 0 is without a limit."""
    playlist_count: int = DEFAULT_PLAYLIST_COUNT
    """live: segments that the playlist names."""
    file_count: int = DEFAULT_FILE_COUNT
    """live: segments that the bucket keeps."""
    segment_duration_ms: int = DEFAULT_SEGMENT_DURATION_MS


class ProgramRtc(WireModel):
    """A room of a provider of real-time communication."""

    provider: Literal["livekit"]
    url: str
    """Address of the provider's server, ws or wss."""
    token: Secret
    """Admits `identity` to `room` as a publisher; signed by the operator."""
    room: str
    identity: str


class ProgramDestination(WireModel):
    """One enabled destination. `url` holds no key; what is secret is in fields of its own."""

    id: str
    type: Literal["RTMP", "RTMPS", "SRT", "RTC", "HLS"]
    url: str = ""
    """RTMP, RTMPS, SRT."""
    key: Secret | None = None
    """RTMP: the stream key. SRT: the stream id, where the url has none."""
    passphrase: Secret | None = None
    """SRT: of the encryption."""
    storage: ProgramStorage | None = None
    """HLS."""
    rtc: ProgramRtc | None = None
    """RTC."""
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    generation: int = 0
    """metadata.generation of the Destination; echoed in its status."""
    uid: str | None = None
    """metadata.uid of the Destination: another one of its name, made after it, has the same generations."""


class ProgramSource(WireModel):
    """A source that the page may show, where it can be read now; see `contract/access_units.py`."""

    id: str
    gateway: str
    """Address of the gateway that has it, http or https, without a path."""
    stream: str
    token: Secret
    """Reads this stream, see `reader_token`. No page ever sees it, nor the gateway."""


class ProgramStudio(WireModel):
    """The page is one of the studio, which finds the sources as cameras and microphones."""

    redirected_hosts: list[str] = []
    """End points that it has built in, which are to lead to the facade."""


class ProgramRoomServer(WireModel):
    """How the page's signalling reaches its project's room while the facade is unavailable."""

    url: str
    """Of the room server's HTTP port, http or https, without a path."""
    token: Secret
    """Admits to that room, hidden, until the run is over at the latest. No page ever sees it."""


class KeptDestination(WireModel):
    """A destination whose Secret is gone: an encoder that has its values continues with them."""

    id: str
    generation: int
    """What the encoder has of another generation is ended: it may be of another address."""
    uid: str | None = None
    """So is what it has of another uid; None: not known, as of an operator of before."""


class UnreadableDestination(KeptDestination):
    """A destination as far as an encoder can read it that is older than the operator."""

    error: str
    """What it cannot read, as a sentence. Names fields, and holds no value of theirs: those may be keys."""


MAX_UNREADABLE_FIELDS = 3
"""More are not named."""


def _unreadable(destination: object, error: ValidationError) -> UnreadableDestination | None:
    """None without an id and a generation: nothing could be said of that one, and nothing kept."""
    if not isinstance(destination, dict):
        return None
    found = [".".join(map(str, each["loc"])) for each in error.errors(include_input=False)]
    fields = ", ".join(list(dict.fromkeys(found))[:MAX_UNREADABLE_FIELDS])
    said = {key: destination.get(key) for key in ("id", "generation", "uid")}
    why = f"the encoder is of another version and does not understand this destination's {fields}"
    try:
        return UnreadableDestination.model_validate({**said, "error": why})
    except ValidationError:
        return None


class Program(WireModel):
    """All that an encoder pod is to do, complete in every request.

    The operator may be of a newer version. A destination that only that one understands is put aside, so
    that the rest is carried out. Whatever else is not understood is refused, as it is of the whole programme:
    an encoder that has one continues with it, and a `Contact` still stops it.
    """

    project: str
    collection: str | None = None
    """Of the project."""
    broadcast: str
    epoch: int
    """An agent that has seen a higher epoch refuses this programme with 409."""
    revision: int = 0
    """Grows with every change that the operator pushes; echoed in the status."""
    composition_url: str
    video: ProgramVideo
    audio: ProgramAudio = ProgramAudio()
    destinations: list[ProgramDestination] = []
    kept: list[KeptDestination] = []
    """Enabled ones that cannot be handed over now; they are no other's than those of `destinations`."""
    unreadable: list[UnreadableDestination] = []
    """Those of `destinations` that the encoder has put aside; the operator names none."""
    inside: InsideRules = EVERYWHERE
    """Where destinations must not lead to. The operator always says; its settings refuse what is inside."""
    sources: list[ProgramSource] = []
    """Those that are connected; the page asks for them by id at the agent's loopback port."""
    source_delay_ms: int = 100
    """The jitter buffer that the page gives them unless it says otherwise."""
    scene: ProgramScene | None = None
    """What the page draws, if it is one of scenes."""
    studio: ProgramStudio | None = None
    """Only of a page of the studio."""
    page_token: Secret | None = None
    """The page is opened with it, see `contract/renderer_token.py`."""
    facade_url: str | None = None
    """Where changes of layers can be followed with that token; http or https, without a path."""
    room_server: ProgramRoomServer | None = None
    """Where a layout shows somebody in the project's room, and that is open."""
    stop_at: str | None = None
    """The programme ends by itself at this time, operator or not (`maxDuration`)."""
    page_timeout_ms: int = 20_000
    """A page that is not ready so long after the start is on air as a slate; it is loaded on."""
    stop: bool = False
    """End every stream properly and then finish."""

    @model_validator(mode="before")
    @classmethod
    def _read_destinations_one_by_one(cls, values: object) -> object:
        if not isinstance(values, dict) or not isinstance(values.get("destinations"), list):
            return values
        readable: list[object] = []
        unreadable: list[object] = []
        for each in values["destinations"]:
            try:
                readable.append(ProgramDestination.model_validate(each))
            except ValidationError as error:
                aside = _unreadable(each, error)
                # What cannot be put aside is refused with all the rest
                (unreadable if aside else readable).append(aside or each)
        before = values.get("unreadable", [])
        merged = {"unreadable": [*before, *unreadable]} if isinstance(before, list) else {}
        return {**values, "destinations": readable, **merged}


class DestinationState(WireModel):
    """What an encoder reports of one destination."""

    id: str
    connect: Annotated[ConnectState, read_unknown_as(ConnectState.DISCONNECTED, list(ConnectState))]
    since: str
    last_error: str | None = None
    attempts: int = 0
    """Connection attempts since the destination was added."""
    bytes_sent: int = 0
    generation: int = 0
    waiting_s: float = 0.0
    """HLS: seconds of the programme that wait for the storage."""
    missing_s: float = 0.0
    """Recordings: seconds of the programme that are not in them, and never will be."""


class Contact(WireModel):
    """Says that the operator is in touch with an encoder."""

    replaced: bool = False
    """Another encoder takes its place: every stream is closed at once and for good, before the response."""
    stop: bool = False
    """The run is over: every stream is ended properly, whatever programme the encoder has. For a stop that
    cannot come with a programme, as the encoder refuses that. Encoders of before ignore it."""


MAX_FAILED_LAYERS = 20
"""More are not told by name."""


class FailedLayer(WireModel):
    """A layer that the page cannot show."""

    layout: str
    layer: str
    reason: str
    on_air: bool = False
    """Of the selected layout."""


def _first_failed(layers: object) -> object:
    return layers[:MAX_FAILED_LAYERS] if isinstance(layers, list) else layers


LONGEST_DRAIN_S = 600
"""How long an encoder that is stopping may store what waits of a recording."""
EncoderPhase = Literal["idle", "starting", "running", "stopping", "finished", "yielded"]
"""yielded: another encoder has taken the place."""


class EncoderStatus(WireModel):
    """An encoder's own observations.

    It may be of a newer version than who reads it, as after a rollback. What that one does not know is read
    as what leaves the encoder alone: one that is not understood would be replaced.
    """

    phase: Annotated[EncoderPhase, read_unknown_as("running", get_args(EncoderPhase))]
    broadcast: str | None = None
    epoch: int = 0
    revision: int = 0
    first_frame: str | None = None
    """When the first media went out of a programme that is running, be it by the slate."""
    on_slate: bool = False
    """The slate is on air, as there is no video."""
    encode_error: str | None = None
    """Why this pod encodes nothing and never will; absent while there is hope."""
    composition_error: str | None = None
    """Why the page cannot be shown, as a sentence; absent while it is."""
    failed_layers: Annotated[
        list[FailedLayer], Field(max_length=MAX_FAILED_LAYERS), BeforeValidator(_first_failed)
    ] = []
    """Those on air first. More, as a newer encoder may name, are cut: the rest is heard all the same."""
    error: Annotated[
        BroadcastError | None, read_unknown_as(BroadcastError.INTERNAL, list(BroadcastError))
    ] = None
    """Why the programme ended by itself."""
    destinations: list[DestinationState] = []
    removed_waiting_s: Annotated[float, Field(ge=0)] = 0.0
    """Seconds of the programme that wait for storages of destinations that are no longer wanted."""
    frames: Annotated[int, Field(ge=0)] = 0
    bitrate_bps: Annotated[int, Field(ge=0)] = 0
    at: str = ""
    """When this status was made."""

    @property
    def draining(self) -> bool:
        """Whether it stores what waits of a recording, for `LONGEST_DRAIN_S` at most."""
        waits = self.removed_waiting_s or any(state.waiting_s for state in self.destinations)
        return self.phase == "stopping" and bool(waits)

    @property
    def only_drains(self) -> bool:
        """Whether it drains, and has no other stream open, so that another encoder may publish already."""
        flowing = (state for state in self.destinations if state.connect is ConnectState.CONNECTED)
        return self.draining and all(state.waiting_s for state in flowing)
