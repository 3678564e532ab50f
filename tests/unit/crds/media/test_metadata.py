"""The format of a video, as its stream declares it."""

from __future__ import annotations

from onair_crds.media.flv import SCRIPT, Packet
from onair_crds.media.metadata import VideoFormat, video_format
from onair_crds.rtmp import amf


def test_the_format_is_what_the_stream_declares() -> None:
    said = {"width": 1280.0, "height": 720.0, "framerate": 25.0, "videodatarate": 2000.0}
    script = Packet(SCRIPT, 0, amf.encode("onMetaData", said))
    assert video_format(script) == VideoFormat(1280, 720, 25.0, 2_048_000)
    assert video_format(Packet(SCRIPT, 0, amf.encode("onMetaData", {"duration": 0.0}))) is None
    assert video_format(Packet(SCRIPT, 0, b"\x02\xff")) is None
