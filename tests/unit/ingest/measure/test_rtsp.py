"""The video track of an RTSP session."""

from __future__ import annotations

import pytest

from onair_ingest.measure.rtsp import NotReadable, VideoTrack, video_track

AUDIO = "m=audio 0 RTP/AVP 97\r\na=control:trackID=1\r\na=rtpmap:97 mpeg4-generic/48000/2\r\n"
VIDEO = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:trackID=0\r\n"


def test_the_video_is_found_among_the_tracks() -> None:
    wanted = VideoTrack("rtsp://h/live/key/trackID=0", 90_000)
    for sdp in ("v=0\r\n" + AUDIO + VIDEO, "v=0\r\n" + VIDEO + AUDIO):
        assert video_track(sdp, "rtsp://h/live/key") == wanted
    absolute = VIDEO.replace("trackID=0", "rtsp://h/other/trackID=0")
    assert video_track(absolute, "rtsp://h/live/key").control == "rtsp://h/other/trackID=0"


def test_a_session_without_video_is_not_readable() -> None:
    for sdp in ("", "v=0\r\n" + AUDIO):
        with pytest.raises(NotReadable):
            video_track(sdp, "rtsp://h/live/key")
