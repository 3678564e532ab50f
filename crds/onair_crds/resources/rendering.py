"""How the programme is rendered: canvas, frame rate, quality, latency, cost, with their defaults."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import SpecModel, rules
from onair_crds.resources.enums import (
    AudioChannelLayout,
    RenderingQuality,
    VideoColorSpace,
)

EVEN = rules(("self % 2 == 0", "must be even"))


class RenderingVideo(SpecModel):
    """The canvas and its frame rate."""

    height: Annotated[int, Field(ge=240, le=2160, multiple_of=2, json_schema_extra=EVEN)] = 720
    """Height of the canvas in pixels; even."""
    width: Annotated[int, Field(ge=320, le=3840, multiple_of=2, json_schema_extra=EVEN)] = 1280
    """Width of the canvas in pixels; even."""
    framerate: Annotated[float, Field(ge=1, le=60)] = 30
    """Frames per second. 29.97 is 30000/1001."""
    color_space: VideoColorSpace = VideoColorSpace.YUV420
    """Colour space and subsampling of the encoded video: YUV420 is BT.709 in limited range, and tagged so."""


class RenderingAudio(SpecModel):
    """The channels of the programme's audio."""

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
