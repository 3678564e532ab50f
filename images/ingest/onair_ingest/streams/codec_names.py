"""What codecs are called outside of the media server. Pure."""

from __future__ import annotations

from onair_ingest.mediamtx.records import Track

VIDEO_CODECS = frozenset({"AV1", "VP9", "VP8", "H265", "H264", "MPEG-4 Video", "MPEG-1/2 Video", "M-JPEG"})
NO_MEDIA = frozenset({"KLV", "Generic", "MPEG-TS"})
"""Neither picture nor sound, such as where the camera is."""
NAMES = {"MPEG-4 Audio": "AAC", "MPEG-4 Audio LATM": "AAC", "MPEG-1/2 Audio": "MP3"}


def codec_name(track: Track) -> str:
    """The codec of a track as `StreamState` has it."""
    return NAMES.get(track.codec, track.codec)
