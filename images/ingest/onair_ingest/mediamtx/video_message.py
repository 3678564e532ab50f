"""Tells frames of video from what else RTMP's video messages hold. Pure (FLV 10.1, and enhanced RTMP)."""

from __future__ import annotations

from onair_crds.rtmp.chunks import Message

_VIDEO = 9
_HEADER = 5
_MEDIA = 1
_ENHANCED, _ENHANCED_FRAMES = 0x80, (1, 3)
"""What marks enhanced RTMP, and its packets that are frames, with and without a composition time."""


def is_frame(message: Message) -> bool:
    """Whether a message is a frame, of whatever codec."""
    body = message.body
    if message.type != _VIDEO or len(body) < _HEADER:
        return False
    if body[0] & _ENHANCED:
        return body[0] & 0x0F in _ENHANCED_FRAMES
    return body[1] == _MEDIA
