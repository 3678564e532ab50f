"""Enumerations, each with its two spellings.

A resource holds the Kubernetes form (`Running`), HTTP the wire form
(`PROJECT_BROADCAST_PHASE_RUNNING`); both come from one class. The zero value
`…_UNSPECIFIED` of the wire means "the default" and is never stored.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class WireEnum(StrEnum):
    """An enumeration whose wire form is `<PREFIX>_<MEMBER NAME>`."""

    @classmethod
    def wire_prefix(cls) -> str:
        """The prefix of every wire value, without the last underscore."""
        return _PREFIXES[cls.__name__]

    @property
    def wire(self) -> str:
        """The value as HTTP clients write it."""
        return f"{self.wire_prefix()}_{self.name}"

    @classmethod
    def unspecified(cls) -> str:
        """The zero value of the wire, which means "the default"."""
        return f"{cls.wire_prefix()}_UNSPECIFIED"

    @classmethod
    def from_wire(cls, value: str) -> Self | None:
        """The member of a wire value; None for the zero value.

        Raises:
            ValueError: the value names no member; the text lists those that exist.
        """
        if value == cls.unspecified():
            return None
        for member in cls:
            if value == member.wire:
                return member
        raise ValueError("must be one of " + ", ".join([cls.unspecified(), *(m.wire for m in cls)]))


class BroadcastPhase(WireEnum):
    """Where a broadcast is between its start and its archive."""

    NOT_RUNNING = "NotRunning"
    WAITING = "Waiting"
    STARTING = "Starting"
    RUNNING = "Running"
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    ARCHIVED = "Archived"

    @property
    def active(self) -> bool:
        """On the way to air or on it: a stop has something to end."""
        return self in _ACTIVE

    @property
    def ended(self) -> bool:
        return self in (BroadcastPhase.STOPPED, BroadcastPhase.ARCHIVED)


class BroadcastError(WireEnum):
    """Why a broadcast ended by itself."""

    INTERNAL = "Internal"
    DURATION_EXCEEDED = "DurationExceeded"


class ConnectState(WireEnum):
    """Whether media bytes flow between the encoder and a peer."""

    CONNECTED = "Connected"
    DISCONNECTED = "Disconnected"


class BroadcastState(StrEnum):
    """What is wanted of a project: on air or not. A resource's own, without a wire form."""

    RUNNING = "Running"
    STOPPED = "Stopped"


class RoomState(StrEnum):
    """What is wanted of a project's room. A resource's own, without a wire form."""

    OPEN = "Open"
    CLOSED = "Closed"


class RoomPhase(StrEnum):
    """Where a room is between its opening and its end. A resource's own, without a wire form."""

    OPENING = "Opening"
    OPEN = "Open"
    CLOSING = "Closing"
    CLOSED = "Closed"


class VideoColorSpace(WireEnum):
    """How colours are sampled."""

    YUV420 = "YUV420"


class AudioChannelLayout(WireEnum):
    """Channels of the programme's audio."""

    STEREO = "Stereo"


class RenderingQuality(WireEnum):
    """How much CPU the encoder spends on quality."""

    STANDARD = "Standard"
    HIGH = "High"


class VideoCodec(WireEnum):
    """Codecs of video."""

    H264 = "H264"


class VideoCodecProfile(WireEnum):
    """Profiles of H.264."""

    BASELINE = "Baseline"
    MAIN = "Main"
    HIGH = "High"


class VideoCodecRateControlMode(WireEnum):
    """How the bitrate is held."""

    CBR = "CBR"


class AudioCodec(WireEnum):
    """Codecs of audio."""

    AAC = "AAC"


class SourceTriggerAction(WireEnum):
    """What a source's start or stop does to a broadcast."""

    IGNORE = "Ignore"
    OR = "Or"


class ObjectAcl(WireEnum):
    """Canned ACLs of S3."""

    PRIVATE = "Private"
    PUBLIC_READ = "PublicRead"
    PUBLIC_READ_WRITE = "PublicReadWrite"
    AUTHENTICATED_READ = "AuthenticatedRead"
    BUCKET_OWNER_READ = "BucketOwnerRead"
    BUCKET_OWNER_FULL_CONTROL = "BucketOwnerFullControl"


class Region(WireEnum):
    """Regions of the interface; the value is the node label `topology.kubernetes.io/region`."""

    US_EAST_1 = "us-east-1"
    US_EAST_2 = "us-east-2"
    US_WEST_1 = "us-west-1"
    US_WEST_2 = "us-west-2"
    US_CENTRAL_1 = "us-central-1"
    AP_SOUTHEAST_1 = "ap-southeast-1"
    CA_EAST_1 = "ca-east-1"
    EU_CENTRAL_1 = "eu-central-1"
    EU_WEST_1 = "eu-west-1"


class Role(WireEnum):
    """What the holder of a token may do."""

    HOST = "Host"
    COHOST = "Cohost"
    CONTRIBUTOR = "Contributor"
    GUEST = "Guest"
    VIEWER = "Viewer"
    RENDERER = "Renderer"
    PLATFORM = "Platform"
    IMPERSONATE = "Impersonate"


class ImageFormat(WireEnum):
    """Formats of a snapshot."""

    JPEG = "Jpeg"


class LayoutType(WireEnum):
    """Whether a layout's layers are a tree below one root."""

    SCENELESS = "Sceneless"
    SCENE = "Scene"


class TransitionDirection(WireEnum):
    """Where a swipe goes to."""

    LEFT = "Left"
    RIGHT = "Right"
    UP = "Up"
    DOWN = "Down"


class TransitionSwipeType(WireEnum):
    """Which of the two layouts a swipe moves."""

    COMBINED = "Combined"
    SOURCE = "Source"
    DESTINATION = "Destination"


class RequestAnimationMode(WireEnum):
    """How the animations of a batch follow each other. Only in requests, never stored."""

    PARALLEL = "Parallel"
    SERIES = "Series"


_ACTIVE = (BroadcastPhase.WAITING, BroadcastPhase.STARTING, BroadcastPhase.RUNNING)

_PREFIXES = {
    "BroadcastPhase": "PROJECT_BROADCAST_PHASE",
    "BroadcastError": "PROJECT_BROADCAST_ERROR",
    "ConnectState": "CONNECT_STATE",
    "VideoColorSpace": "VIDEO_COLOR_SPACE",
    "AudioChannelLayout": "AUDIO_CHANNEL_LAYOUT",
    "RenderingQuality": "RENDERING_QUALITY",
    "VideoCodec": "VIDEO_CODEC",
    "VideoCodecProfile": "VIDEO_CODEC_PROFILE",
    "VideoCodecRateControlMode": "VIDEO_CODEC_RATE_CONTROL_MODE",
    "AudioCodec": "AUDIO_CODEC",
    "SourceTriggerAction": "SOURCE_TRIGGER_ACTION",
    "ObjectAcl": "OBJECT_ACL",
    "Region": "REGION",
    "Role": "ROLE",
    "ImageFormat": "IMAGE_FORMAT",
    "LayoutType": "LAYOUT_TYPE",
    "TransitionDirection": "TRANSITION_DIRECTION",
    "TransitionSwipeType": "TRANSITION_SWIPE_TYPE",
    "RequestAnimationMode": "REQUEST_ANIMATION_MODE",
}
