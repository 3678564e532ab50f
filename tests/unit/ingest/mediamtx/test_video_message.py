"""Frames are known among RTMP's messages, whatever their codec."""

from __future__ import annotations

import pytest

from onair_crds.rtmp.chunks import Message
from onair_ingest.mediamtx.video_message import is_frame


@pytest.mark.parametrize(
    ("type_", "body", "frame"),
    [
        (9, b"\x17\x01\0\0\0media", True),
        (9, b"\x27\x01\0\0\0media", True),
        (9, b"\x17\x00\0\0\0config", False),
        (9, b"\x17\x02\0\0\0", False),
        (9, b"\x91hvc1\0\0\0media", True),
        (9, b"\xa3hvc1media", True),
        (9, b"\x90hvc1config", False),
        (9, b"\x92hvc1", False),
        (9, b"\x17", False),
        (8, b"\xaf\x01\0\0\0sound", False),
    ],
)
def test_frames_are_told_from_configurations_and_ends(type_: int, body: bytes, frame: bool) -> None:
    assert is_frame(Message(type_, 1, 0, body)) is frame
