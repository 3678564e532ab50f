"""Decodes a stream's `onMetaData` as far as it describes the video (Adobe FLV 10.1, annex E.5)."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.media.flv import SCRIPT, Packet
from onair_crds.rtmp import amf

FrameSize = tuple[object, object]


@dataclass(frozen=True)
class VideoFormat:
    width: int
    height: int
    framerate: float
    bitrate_bps: int


def frame_size(script: Packet) -> FrameSize:
    """Width and height, as they are; None if they are missing."""
    metadata = _metadata(script)
    return metadata.get("width"), metadata.get("height")


def video_format(script: Packet) -> VideoFormat | None:
    """Decodes what `onMetaData` says of the video; None if it says nothing, or what cannot be."""
    try:
        metadata = _metadata(script)
        width, height = int(metadata["width"]), int(metadata["height"])
        bitrate_bps = round(float(metadata.get("videodatarate") or 0.0) * 1024)
        framerate = float(metadata.get("framerate") or 30.0)
    except (amf.AmfError, KeyError, TypeError, ValueError, OverflowError):
        return None
    return VideoFormat(width, height, framerate, bitrate_bps)


def _metadata(script: Packet) -> amf.AmfObject:
    """
    Raises:
        AmfError: it is cut short.
    """
    return next((value for value in amf.decode(script.body) if isinstance(value, dict)), {})


def metadata_packet(form: VideoFormat) -> Packet:
    """An `onMetaData` that says so much of the video, and nothing else."""
    values = {
        "width": float(form.width),
        "height": float(form.height),
        "framerate": form.framerate,
        "videodatarate": form.bitrate_bps / 1024,
    }
    return Packet(SCRIPT, 0, amf.encode("onMetaData", values))
