"""Source: a live input of a collection, pushed to the service or pulled by it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import MAX_TEXT, MAX_URL, PrinterColumn, Resource, Rule, SpecModel, Status
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.values import AnyJson, ImmutableName, PullUrl, Timestamp


class PushedSource(SpecModel):
    enabled: bool | None = None
    """Whether the service accepts this push. Default true."""


class PulledSource(SpecModel):
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
    enabled: bool = True
    """Whether the source is shown in the project's WebRTC room."""
    display_name: Annotated[str, Field(max_length=256)] | None = None
    """Name of the source in the room."""


class Preview(SpecModel):
    webrtc: WebRtcPreview | None = None
    """Preview in the WebRTC room."""


class SourceSpec(SpecModel):
    collection_id: ImmutableName
    """Collection that owns the source; cannot be changed."""
    metadata: AnyJson = None
    """Any JSON value of the caller's."""
    address: SourceAddress
    """How the source comes to the service."""
    preview: Preview | None = None
    """How the source may be watched before it is on air."""


class AssignedAddress(SpecModel):
    """Where to push; the key stays in a Secret."""

    base_url: Annotated[str, Field(max_length=MAX_URL)]
    """Address without the stream key or stream id."""
    secret_name: Annotated[str, Field(max_length=253)] | None = None
    """Secret that holds the stream key."""


class SourceStatus(Status):
    connect: ConnectState | None = None
    """Connected while media bytes arrive."""
    since: Timestamp | None = None
    """When connect last changed."""
    last_error: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    """What went wrong last."""
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
        PrinterColumn(name="Collection", path=".spec.collectionId"),
        PrinterColumn(name="Connect", path=".status.connect"),
        PrinterColumn(name="Since", path=".status.since", type="date"),
        PrinterColumn(name="Error", path=".status.lastError"),
        PrinterColumn(name="Age", path=".metadata.creationTimestamp", type="date"),
    ]

    spec: SourceSpec
    status: SourceStatus = SourceStatus()
