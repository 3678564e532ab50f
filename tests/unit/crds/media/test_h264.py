"""Access units and parameter sets in Annex B form."""

from __future__ import annotations

import pytest
from tests.support.media.packets import PPS, SPS, VIDEO_HEADER, frame

from onair_crds.media.flv import VIDEO, Packet
from onair_crds.media.h264 import access_unit, parameter_sets


def test_a_key_frame_has_its_parameter_sets_before_it() -> None:
    sets = parameter_sets(VIDEO_HEADER)
    assert sets == b"\0\0\0\1" + SPS + b"\0\0\0\1" + PPS
    assert access_unit(frame(b"\x65key", keyframe=True), sets) == sets + b"\0\0\0\1\x65key"
    assert access_unit(frame(b"\x41one", b"\x41two"), sets) == b"\0\0\0\1\x41one\0\0\0\1\x41two"


def test_filler_and_delimiters_stay_out() -> None:
    assert access_unit(frame(b"\x09\xf0", b"\x41x", b"\x0c\xff\xff"), b"") == b"\0\0\0\1\x41x"


@pytest.mark.parametrize("size", [6, 9, 14, 17])
def test_a_header_that_is_cut_short_is_an_error(size: int) -> None:
    with pytest.raises(ValueError, match="cut short"):
        parameter_sets(Packet(VIDEO, 0, VIDEO_HEADER.body[:size]))
