"""From a stream's records to the packets that a room's process takes. Pure."""

from __future__ import annotations

from onair_crds.contract.access_units import Record, UnitKind, split_config
from onair_crds.contract.ingest_gateway import Video
from onair_crds.media.flv import AUDIO, VIDEO, Packet
from onair_crds.media.stream_metadata import VideoFormat, metadata_packet

UNKNOWN = Video(codec="H264", width=1280, height=720)
FRAMERATE = 30.0
BITS_PER_PIXEL = 0.2
"""More than what cameras send; the room's bandwidth is estimated from it at the beginning."""
_AVC, _AAC = 7, 0xAF
_KEY, _DELTA = 0x10, 0x20


def announcement(video: Video | None) -> Packet:
    """What is said of the video before its first frame."""
    known = video if video and video.width and video.height else UNKNOWN
    width, height = known.width or 0, known.height or 0
    framerate = known.framerate or FRAMERATE
    bitrate_bps = round(width * height * framerate * BITS_PER_PIXEL)
    return metadata_packet(VideoFormat(width, height, framerate, bitrate_bps))


def packet_of(record: Record) -> Packet:
    """The FLV form of a record."""
    time_ms = record.dts_us // 1000
    match record.kind:
        case UnitKind.VIDEO_CONFIG:
            return Packet(VIDEO, 0, bytes((_KEY | _AVC, 0, 0, 0, 0)) + split_config(record.payload)[1])
        case UnitKind.AUDIO_CONFIG:
            return Packet(AUDIO, 0, bytes((_AAC, 0)) + split_config(record.payload)[1])
        case UnitKind.VIDEO:
            composition_ms = (record.pts_us - record.dts_us) // 1000
            head = bytes(((_KEY if record.key else _DELTA) | _AVC, 1)) + composition_ms.to_bytes(3, "big")
            return Packet(VIDEO, time_ms, head + record.payload)
        case UnitKind.AUDIO:
            return Packet(AUDIO, time_ms, bytes((_AAC, 1)) + record.payload)
