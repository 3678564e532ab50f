"""What arrives of a source is said in few words, and only when it changes."""

from __future__ import annotations

from tests.support.gateway_server import stream_state

from onair_operator.source.media import media_of


def test_media_are_summed_up() -> None:
    media = media_of(stream_state("a"), None)
    assert media
    assert media.summary == "H.264 1280×720@30, AAC 48 kHz stereo"


def test_what_is_not_known_yet_is_left_out() -> None:
    assert media_of(stream_state("a", video=None, audio=None), None) is None
    only_video = media_of(stream_state("a", audio=None, video={"codec": "H264"}), None)
    assert only_video
    assert only_video.summary == "H.264"
    mono = media_of(
        stream_state("a", video=None, audio={"codec": "AAC", "sampleRate": 44_100, "channels": 1}), None
    )
    assert mono
    assert mono.summary == "AAC 44.1 kHz mono"


def test_a_rate_that_wavers_is_no_news() -> None:
    def at(rate: float) -> object:
        return {"codec": "H264", "width": 1280, "height": 720, "framerate": rate}

    said = media_of(stream_state("a", video=at(30.0)), None)
    assert media_of(stream_state("a", video=at(29.2)), said) == said
    changed = media_of(stream_state("a", video=at(25.0)), said)
    assert changed
    assert changed.summary.startswith("H.264 1280×720@25,")
    ntsc = media_of(stream_state("a", video=at(29.970)), None)
    assert ntsc
    assert "@29.97" in ntsc.summary


def test_a_gateway_cannot_make_a_status_too_long() -> None:
    media = media_of(stream_state("a", video={"codec": "x" * 5000}), None)
    assert media
    assert media.video
    assert len(media.video.codec) == 64
    assert len(media.summary) <= 128
