"""Destination: one place that a project's programme is delivered to."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import MAX_TEXT, PrinterColumn, Resource, Rule, SpecModel, Status
from onair_crds.resources.enums import ConnectState, ObjectAcl
from onair_crds.resources.values import (
    AnyJson,
    HttpUrl,
    ImmutableName,
    PushUrl,
    SecretKeyRef,
    SrtUrl,
    Timestamp,
)

DEFAULT_TIMEOUT_MS = 5000
DEFAULT_PLAYLIST_COUNT = 5
DEFAULT_FILE_COUNT = 10
DEFAULT_SEGMENT_DURATION_MS = 2000
"""Of HLS (`operations.md`). No defaults of the schema: a default inside a one-of would make applying another
member fail."""

_NO_INLINE = (
    "must not be given inline; put it into a Secret of type onair.dev/credentials and name that in {ref}"
)


def _no_inline(field: str, ref: str) -> Rule:
    return Rule(rule=f"!has(self.{field})", message=_NO_INLINE.format(ref=ref), field_path=f".{field}")


_NO_PASSPHRASE_IN_URL = Rule(
    rule="!self.url.matches('(?i)^srt://.*[?&]passphrase=')",
    message="must not hold a passphrase; put it into a Secret of type onair.dev/credentials and name that in "
    "passphraseSecretRef",
    field_path=".url",
)

InlineSecret = Annotated[str, Field(max_length=4096)]


class RtmpPush(SpecModel):
    """An RTMP, RTMPS or SRT server that the programme is pushed to."""

    rules = [
        _no_inline("key", "keySecretRef"),
        _NO_PASSPHRASE_IN_URL,
        Rule(
            rule="!has(self.passphraseSecretRef) || self.url.matches('(?i)^srt://')",
            message="only an srt url has a passphrase",
            field_path=".passphraseSecretRef",
        ),
    ]

    url: PushUrl
    """Address of the server and its application, without the stream key."""
    key: InlineSecret | None = None
    """Refused: a stream key is a secret. Use keySecretRef."""
    key_secret_ref: SecretKeyRef | None = None
    """The stream key. With an srt url: the stream id, where the url has none."""
    passphrase_secret_ref: SecretKeyRef | None = None
    """With an srt url: passphrase of the connection's encryption."""


class SrtPush(SpecModel):
    """An SRT listener that the programme is pushed to."""

    rules = [_NO_PASSPHRASE_IN_URL]

    url: SrtUrl
    """Address of the listener; the query may hold streamid, latency (ms) and pbkeylen."""
    passphrase_secret_ref: SecretKeyRef | None = None
    """Passphrase of the connection's encryption."""


class RtcPlatform(SpecModel):
    """A channel of a real-time communication provider."""

    app_id: Annotated[str, Field(min_length=1, max_length=256)]
    """Provider's application, as configured in the installation."""
    channel_id: Annotated[str, Field(min_length=1, max_length=256)]
    """Room or channel."""
    user_id: Annotated[str, Field(min_length=1, max_length=256)]
    """Identity that publishes."""


class HlsVod(SpecModel):
    """A recording, whose playlist names every segment."""

    max_duration: Annotated[int, Field(ge=0, le=2_147_483_647)] | None = None
    """Longest recording in milliseconds; 0 is indefinite."""


class HlsLive(SpecModel):
    """A sliding window over the last segments."""

    playlist_count: Annotated[int, Field(ge=2, le=10_000)] | None = None
    """Entries advertised in the playlist. Default 5."""
    file_count: Annotated[int, Field(ge=4, le=20_000)] | None = None
    """Segment files kept. Default 10."""


class HlsLifecycle(SpecModel):
    """How long segments live; exactly one key."""

    one_of = ("vod", "live")
    rules = [Rule(rule="has(self.vod) != has(self.live)", message="exactly one of vod, live must be given")]

    vod: HlsVod | None = None
    """Keep everything and close the playlist at the end."""
    live: HlsLive | None = None
    """Keep a sliding window."""


class HlsPackaging(SpecModel):
    """How segments are cut, and which of them are kept."""

    lifecycle: HlsLifecycle | None = None
    """Recording or sliding window. Default: live."""
    segment_duration: Annotated[int, Field(ge=2000, le=18_000)] | None = None
    """Target duration of a segment in milliseconds. Default 2000."""


class Packaging(SpecModel):
    """How the programme is stored."""

    hls: HlsPackaging
    """HTTP Live Streaming."""


class ObjectStorage(SpecModel):
    """An S3-compatible bucket that receives the packaged programme."""

    rules = [
        _no_inline("accessKey", "accessKeySecretRef"),
        _no_inline("secretKey", "secretKeySecretRef"),
        _no_inline("token", "tokenSecretRef"),
    ]

    region: Annotated[str, Field(min_length=1, max_length=64)]
    """Region of the bucket."""
    bucket: Annotated[str, Field(min_length=1, max_length=255)]
    """Name of the bucket."""
    prefix: Annotated[str, Field(max_length=512)] | None = None
    """Prefix of every object's key."""
    access_key: InlineSecret | None = None
    """Refused: a secret. Use accessKeySecretRef."""
    secret_key: InlineSecret | None = None
    """Refused: a secret. Use secretKeySecretRef."""
    token: InlineSecret | None = None
    """Refused: a secret. Use tokenSecretRef."""
    access_key_secret_ref: SecretKeyRef
    """Access key id."""
    secret_key_secret_ref: SecretKeyRef
    """Secret access key."""
    token_secret_ref: SecretKeyRef | None = None
    """Session token, for token-based authentication."""
    token_duration: Annotated[int, Field(ge=0, le=2_147_483_647)] | None = None
    """How long the token is used before TokenExpired is told, in milliseconds; 0 is indefinite."""
    acl: ObjectAcl | None = None
    """Access rule of each object. Default: the bucket's own."""
    endpoint: HttpUrl | None = None
    """Address of a storage provider other than the default."""
    packaging: Packaging
    """Format of the stored programme."""


class DestinationAddress(SpecModel):
    """Where the programme goes; exactly one key."""

    one_of = ("rtmpPush", "srtPush", "rtcPlatform", "objectStorage")
    rules = [
        Rule(
            rule="[has(self.rtmpPush), has(self.srtPush), has(self.rtcPlatform), has(self.objectStorage)]"
            ".exists_one(x, x)",
            message="exactly one of rtmpPush, srtPush, rtcPlatform, objectStorage must be given",
        )
    ]

    rtmp_push: RtmpPush | None = None
    """Push by RTMP, RTMPS or SRT."""
    srt_push: SrtPush | None = None
    """Push by SRT."""
    rtc_platform: RtcPlatform | None = None
    """Publish into a channel of a real-time communication provider."""
    object_storage: ObjectStorage | None = None
    """Package into object storage."""


class DestinationSpec(SpecModel):
    """What is wanted of a destination."""

    project_id: ImmutableName
    """Project whose programme is delivered; cannot be changed."""
    metadata: AnyJson = None
    """Any JSON value of the caller's."""
    enabled: bool = True
    """Whether the programme is sent here."""
    address: DestinationAddress
    """Where the programme goes."""
    timeout: Annotated[int, Field(ge=100, le=30_000)] = DEFAULT_TIMEOUT_MS
    """Milliseconds without progress after which the connection is reset."""


class DestinationStatus(Status):
    """What the operator has observed of a destination."""

    type: Annotated[str, Field(max_length=16)] | None = None
    """RTMP, RTMPS, SRT, RTC or HLS."""
    connect: ConnectState | None = None
    """Connected while media bytes flow."""
    since: Timestamp | None = None
    """When connect last changed."""
    last_error: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    """What went wrong last; cleared on connection. Never holds a key."""
    recording_missing_ms: Annotated[int, Field(ge=0)] | None = None
    """Milliseconds of its last broadcast that a recording lacks; absent where it lacks nothing."""


class Destination(Resource):
    """One place that a project's programme is delivered to."""

    kind = "Destination"
    plural = "destinations"
    short_names = ["dest"]
    spec_model = DestinationSpec
    status_model = DestinationStatus
    columns = [
        PrinterColumn(name="Project", path=".spec.projectId"),
        PrinterColumn(name="Type", path=".status.type"),
        PrinterColumn(name="Enabled", path=".spec.enabled", type="boolean"),
        PrinterColumn(name="Connect", path=".status.connect"),
        PrinterColumn(name="Since", path=".status.since", type="date"),
        PrinterColumn(name="Error", path=".status.lastError"),
        PrinterColumn(name="Age", path=".metadata.creationTimestamp", type="date", wide=True),
    ]

    spec: DestinationSpec
    status: DestinationStatus = DestinationStatus()

    @property
    def type(self) -> str:
        """The kind of delivery, for people: RTMP, RTMPS, SRT, RTC or HLS."""
        address = self.spec.address
        if address.rtmp_push:
            return str(address.rtmp_push.url).partition("://")[0].upper()
        if address.srt_push:
            return "SRT"
        return "RTC" if address.rtc_platform else "HLS"

    @property
    def secret_names(self) -> set[str]:
        """Names of the Secrets that the address refers to."""
        address = self.spec.address
        references: list[SecretKeyRef | None] = []
        if rtmp := address.rtmp_push:
            references += [rtmp.key_secret_ref, rtmp.passphrase_secret_ref]
        if srt := address.srt_push:
            references.append(srt.passphrase_secret_ref)
        if storage := address.object_storage:
            keys = [storage.access_key_secret_ref, storage.secret_key_secret_ref]
            references += [*keys, storage.token_secret_ref]
        return {reference.name for reference in references if reference}
