"""Frames are known among RTMP's messages, whatever their codec."""

from __future__ import annotations

import pytest

from onair_crds.rtmp.chunks import RtmpMessage
from onair_ingest.mediamtx.video_message import is_frame, presented_ms


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
    assert is_frame(RtmpMessage(type_, 1, 0, body)) is frame


@pytest.mark.parametrize(
    ("body", "presented"),
    [
        (b"\x17\x01\x00\x00\x43data", 1067),
        (b"\x27\x01\xff\xff\xdfdata", 967),
        (b"\x91hvc1\x00\x00\x21data", 1033),
        (b"\x93hvc1data", 1000),
        (b"\x91av01data", 1000),
    ],
    ids=["H.264", "before it is decoded", "H.265", "H.265 in order", "AV1"],
)
def test_a_frame_is_shown_its_composition_time_after_it_is_decoded(body: bytes, presented: int) -> None:
    assert presented_ms(RtmpMessage(9, 1, 1000, body)) == presented
