"""The format of a video, as its stream declares it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onair_crds.media.flv import SCRIPT, Packet
from onair_crds.media.stream_metadata import VideoFormat, frame_size, video_format
from onair_crds.rtmp import amf


def test_the_format_is_what_the_stream_declares() -> None:
    said = {"width": 1280.0, "height": 720.0, "framerate": 25.0, "videodatarate": 2000.0}
    script = Packet(SCRIPT, 0, amf.encode("onMetaData", said))
    assert video_format(script) == VideoFormat(1280, 720, 25.0, 2_048_000)
    assert video_format(Packet(SCRIPT, 0, amf.encode("onMetaData", {"duration": 0.0}))) is None
    assert video_format(Packet(SCRIPT, 0, b"\x02\xff")) is None


VALUES: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.just([1.0]) | st.just({})
)


@pytest.mark.fuzz
@given(st.dictionaries(st.sampled_from(["width", "height", "framerate", "videodatarate"]), VALUES))
@example({"width": float("inf"), "height": 1.0})
@example({"width": 1.0, "height": 1.0, "videodatarate": float("nan")})
@example({"width": 1.0, "height": 1.0, "framerate": "often"})
def test_whatever_a_stream_declares_is_a_format_or_none(said: dict[str, object]) -> None:
    script = Packet(SCRIPT, 0, amf.encode("onMetaData", said))
    found = video_format(script)
    assert found is None or isinstance(found, VideoFormat)
    assert len(frame_size(script)) == 2
