"""Tells frames of video from what else RTMP's video messages hold. Pure (FLV 10.1, and enhanced RTMP)."""

from __future__ import annotations

from onair_crds.rtmp.chunks import RtmpMessage

_VIDEO = 9
_HEADER = 5
_MEDIA = 1
_ENHANCED, _ENHANCED_FRAMES = 0x80, (1, 3)
"""What marks enhanced RTMP, and its packets that are frames, with and without a composition time."""
_REORDERED = (b"avc1", b"hvc1")
"""Codecs of enhanced RTMP whose frames have a composition time."""


def is_frame(message: RtmpMessage) -> bool:
    """Whether a message is a frame, of whatever codec."""
    body = message.body
    if message.type != _VIDEO or len(body) < _HEADER:
        return False
    if body[0] & _ENHANCED:
        return body[0] & 0x0F in _ENHANCED_FRAMES
    return body[1] == _MEDIA


def presented_ms(message: RtmpMessage) -> int:
    """When a frame is shown: its timestamp is the one of decoding."""
    body = message.body
    if not body[0] & _ENHANCED:
        offset = body[2:5]
    elif body[0] & 0x0F == _ENHANCED_FRAMES[0] and body[1:5] in _REORDERED:
        offset = body[5:8]
    else:
        return message.timestamp_ms
    return message.timestamp_ms + int.from_bytes(offset, "big", signed=True)
