"""How the programme is encoded: codecs, profile, bitrate, key frames, with their defaults."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import SpecModel
from onair_crds.resources.enums import (
    AudioCodec,
    VideoCodec,
    VideoCodecProfile,
    VideoCodecRateControlMode,
)
from onair_crds.resources.rendering import Rendering

DEFAULT_BITRATE_720P30_BPS = 3_145_728
MIN_BITRATE_BPS = 256_000
MAX_BITRATE_BPS = 20_971_520


class RateControl(SpecModel):
    """Bitrate and key frames."""

    mode: VideoCodecRateControlMode = VideoCodecRateControlMode.CBR
    """How the bitrate is held; CBR is constant."""
    target_bitrate: Annotated[int, Field(ge=MIN_BITRATE_BPS, le=MAX_BITRATE_BPS)] | None = None
    """Video bitrate in bits per second. Default: by canvas and frame rate, 3145728 at 1280×720@30."""
    max_key_frame_interval: Annotated[int, Field(ge=1, le=30000)] = 30
    """Longest distance between key frames, in frames."""


class EncodingVideo(SpecModel):
    """How video is encoded."""

    codec: VideoCodec = VideoCodec.H264
    """Video codec."""
    profile: VideoCodecProfile = VideoCodecProfile.HIGH
    """H.264 profile."""
    rate_control: RateControl = RateControl()
    """Bitrate and key frames."""


class EncodingAudio(SpecModel):
    """How audio is encoded."""

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
