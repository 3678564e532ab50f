"""How video is rendered and encoded: canvas, frame rate, codec parameters, with their defaults."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import SpecModel, rules
from onair_crds.resources.enums import (
    AudioChannelLayout,
    AudioCodec,
    RenderingQuality,
    VideoCodec,
    VideoCodecProfile,
    VideoCodecRateControlMode,
    VideoColorSpace,
)

EVEN = rules(("self % 2 == 0", "must be even"))

DEFAULT_BITRATE_720P30_BPS = 3_145_728
MIN_BITRATE_BPS = 256_000
MAX_BITRATE_BPS = 20_971_520


class RenderingVideo(SpecModel):
    height: Annotated[int, Field(ge=240, le=2160, multiple_of=2, json_schema_extra=EVEN)] = 720
    """Height of the canvas in pixels; even."""
    width: Annotated[int, Field(ge=320, le=3840, multiple_of=2, json_schema_extra=EVEN)] = 1280
    """Width of the canvas in pixels; even."""
    framerate: Annotated[float, Field(ge=1, le=60)] = 30
    """Frames per second. 29.97 is 30000/1001."""
    color_space: VideoColorSpace = VideoColorSpace.YUV420
    """Colour space and subsampling of the encoded video: YUV420 is BT.709 in limited range, and tagged so."""


class RenderingAudio(SpecModel):
    channel_layout: AudioChannelLayout = AudioChannelLayout.STEREO
    """Channels of the programme's audio."""


class Rendering(SpecModel):
    """The canvas that a composition is rendered on."""

    video: RenderingVideo = RenderingVideo()
    """The video: size, frame rate, colour space."""
    audio: RenderingAudio = RenderingAudio()
    """The audio: channels."""
    quality: RenderingQuality = RenderingQuality.STANDARD
    """High spends more processor time on each frame for a better image at the same bitrate."""
    target_latency: Annotated[int, Field(ge=100, le=5000)] = 500
    """Wanted delay of live sources, in milliseconds: the jitter buffer that a page is to give them.

    The encoder itself adds as little delay as it can, whatever is wanted here.
    """
    complexity: Annotated[int, Field(ge=-4, le=4)] = 0
    """How much work the composition is for the browser; 0 is nominal. Scales the pod's requests."""


class RateControl(SpecModel):
    mode: VideoCodecRateControlMode = VideoCodecRateControlMode.CBR
    """How the bitrate is held; CBR is constant."""
    target_bitrate: Annotated[int, Field(ge=MIN_BITRATE_BPS, le=MAX_BITRATE_BPS)] | None = None
    """Video bitrate in bits per second. Default: by canvas and frame rate, 3145728 at 1280×720@30."""
    max_key_frame_interval: Annotated[int, Field(ge=1, le=30000)] = 30
    """Longest distance between key frames, in frames."""


class EncodingVideo(SpecModel):
    codec: VideoCodec = VideoCodec.H264
    """Video codec."""
    profile: VideoCodecProfile = VideoCodecProfile.HIGH
    """H.264 profile."""
    rate_control: RateControl = RateControl()
    """Bitrate and key frames."""


class EncodingAudio(SpecModel):
    codec: AudioCodec = AudioCodec.AAC
    """Audio codec."""


class Encoding(SpecModel):
    """How the programme is encoded, once for all destinations."""

    video: EncodingVideo = EncodingVideo()
    """The video's codec, profile, bitrate and key frames."""
    audio: EncodingAudio = EncodingAudio()
    """The audio's codec."""


def target_bitrate_bps(rendering: Rendering, encoding: Encoding) -> int:
    """The video bitrate in force, bits/s: the asked one, or one in proportion to pixels per second.

    The default grows with the 0.75th power of the pixel rate, as larger
    frames need fewer bits a pixel (source: `operations.md`, 3145728 at 720p30).
    """
    asked = encoding.video.rate_control.target_bitrate
    if asked is not None:
        return asked
    video = rendering.video
    relative = (video.width * video.height * video.framerate) / (1280 * 720 * 30)
    bitrate = round(DEFAULT_BITRATE_720P30_BPS * relative**0.75)
    return int(min(max(bitrate, MIN_BITRATE_BPS), MAX_BITRATE_BPS))
