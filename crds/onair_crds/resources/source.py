"""Source: a live input of a collection, pushed to the service or pulled by it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import MAX_TEXT, MAX_URL, PrinterColumn, Resource, Rule, SpecModel, Status
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.values import AnyJson, ImmutableName, PullUrl, Timestamp


class PushedSource(SpecModel):
    """A source that is pushed to this installation."""

    enabled: bool | None = None
    """Whether the service accepts this push. Default true."""


class PulledSource(SpecModel):
    """A source that this installation pulls."""

    url: PullUrl
    """Address that the service pulls from."""


class SourceAddress(SpecModel):
    """How the source comes to the service; exactly one key."""

    one_of = ("rtmpPush", "srtPush", "rtmpPull")
    rules = [
        Rule(
            rule="[has(self.rtmpPush), has(self.srtPush), has(self.rtmpPull)].exists_one(x, x)",
            message="exactly one of rtmpPush, srtPush, rtmpPull must be given",
        )
    ]

    rtmp_push: PushedSource | None = None
    """The source pushes by RTMP to an assigned address."""
    srt_push: PushedSource | None = None
    """The source pushes by SRT to an assigned address."""
    rtmp_pull: PulledSource | None = None
    """The service pulls by RTMP."""


class WebRtcPreview(SpecModel):
    """The source as a participant of its projects' WebRTC rooms."""

    enabled: bool = True
    """Whether the source is shown in the project's WebRTC room."""
    display_name: Annotated[str, Field(max_length=256)] | None = None
    """Name of the source in the room."""


class SourcePreview(SpecModel):
    """Where the source is shown before it is on air."""

    webrtc: WebRtcPreview | None = None
    """Preview in the WebRTC room."""


class SourceSpec(SpecModel):
    """What is wanted of a source."""

    collection_id: ImmutableName
    """Collection that owns the source; cannot be changed."""
    metadata: AnyJson = None
    """Any JSON value of the caller's."""
    address: SourceAddress
    """How the source comes to the service."""
    preview: SourcePreview | None = None
    """How the source may be watched before it is on air."""


class AssignedEndpoint(SpecModel):
    """One of several addresses to push to."""

    protocol: Annotated[str, Field(max_length=16)]
    """rtmp, rtmps or srt."""
    region: Annotated[str, Field(max_length=253)] | None = None
    """Region of the ingest pods that it leads to; absent where it leads to those of all."""
    base_url: Annotated[str, Field(max_length=MAX_URL)]
    """Address without the stream key or stream id."""


class AssignedAddress(SpecModel):
    """Where to push; the key stays in a Secret."""

    base_url: Annotated[str, Field(max_length=MAX_URL)] | None = None
    """Address without the stream key or stream id; absent while none is known."""
    endpoints: Annotated[list[AssignedEndpoint], Field(max_length=100)] | None = None
    """All addresses, if there are several: by RTMPS, in other regions."""
    secret_name: Annotated[str, Field(max_length=253)] | None = None
    """Secret that holds the stream key."""


class SourceVideo(SpecModel):
    """The video that arrives."""

    codec: Annotated[str, Field(max_length=64)]
    """Such as H264."""
    width: int | None = None
    """Pixels."""
    height: int | None = None
    """Pixels."""
    framerate: float | None = None
    """Frames per second, measured."""


class SourceAudio(SpecModel):
    """The audio that arrives."""

    codec: Annotated[str, Field(max_length=64)]
    """Such as AAC."""
    sample_rate: int | None = None
    """Hz."""
    channels: int | None = None
    """How many."""


class SourceMedia(SpecModel):
    """What arrives of a source that is connected."""

    video: SourceVideo | None = None
    """Absent where no video arrives, or nothing is known of it yet."""
    audio: SourceAudio | None = None
    """Absent where no audio arrives, or nothing is known of it yet."""
    summary: Annotated[str, Field(max_length=128)]
    """Both in a few words, for `kubectl get`."""


class SourceStatus(Status):
    """What the operator has observed of a source."""

    type: Annotated[str, Field(max_length=16)] | None = None
    """How it comes to the service: RtmpPush, SrtPush or RtmpPull."""
    connect: ConnectState | None = None
    """Connected while media bytes arrive."""
    since: Timestamp | None = None
    """When connect last changed; absent while it never was Connected."""
    last_error: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    """Why it is not connected, or what pages cannot decode of it while it is."""
    unknown: bool | None = None
    """Its ingest pod or server is unreachable, so its state is not known; triggers wait until it is."""
    media: SourceMedia | None = None
    """What arrives; absent while it is not connected."""
    gateway: Annotated[str, Field(max_length=253)] | None = None
    """Pod of the ingest server that receives the source, or that is to pull it."""
    stream: Annotated[str, Field(max_length=128)] | None = None
    """Name of its stream there. It follows from the stream key, which cannot be found from it."""
    replaced_key: bool | None = None
    """It is connected by a key that has been replaced since, and that nobody connects by again."""
    address: AssignedAddress | None = None
    """The address assigned to a pushed source."""
    preview_participant_id: Annotated[str, Field(max_length=256)] | None = None
    """Identity of the preview in the WebRTC room."""


class Source(Resource):
    """A live input of a collection."""

    kind = "Source"
    plural = "sources"
    short_names = ["lsrc"]
    spec_model = SourceSpec
    status_model = SourceStatus
    columns = [
        PrinterColumn(name="Type", path=".status.type"),
        PrinterColumn(name="Connect", path=".status.connect"),
        PrinterColumn(name="Media", path=".status.media.summary"),
        PrinterColumn(name="Since", path=".status.since", type="date"),
        PrinterColumn(name="Error", path=".status.lastError"),
        PrinterColumn(name="Collection", path=".spec.collectionId", wide=True),
        PrinterColumn(name="Gateway", path=".status.gateway", wide=True),
        PrinterColumn(name="Age", path=".metadata.creationTimestamp", type="date", wide=True),
    ]

    spec: SourceSpec
    status: SourceStatus = SourceStatus()

    @property
    def pushed(self) -> PushedSource | None:
        """The address that it is pushed to; None if it is pulled."""
        return self.spec.address.rtmp_push or self.spec.address.srt_push

    @property
    def enabled(self) -> bool:
        """Whether the service takes it."""
        return self.pushed is None or self.pushed.enabled is not False

    @property
    def type(self) -> str:
        """How it comes to the service."""
        if self.spec.address.rtmp_push:
            return "RtmpPush"
        return "SrtPush" if self.spec.address.srt_push else "RtmpPull"
