"""What arrives of a source is said in few words, and only when it changes."""

from __future__ import annotations

import pytest
from tests.support.gateway_server import stream_state

from onair_operator.source.media import media_of, undecodable


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


@pytest.mark.parametrize(
    ("video", "audio", "reason"),
    [
        ("H264", "AAC", None),
        ("H264", None, None),
        (None, "AAC", None),
        ("H265", "AAC", "pages cannot show its H.265 video; send H.264"),
        ("H264", "MP3", "pages cannot play its MP3 audio; send AAC"),
        (
            "AV1",
            "Opus",
            "pages cannot show its AV1 video; send H.264 · pages cannot play its Opus audio; send AAC",
        ),
    ],
)
def test_what_pages_cannot_decode_is_named(video: str | None, audio: str | None, reason: str | None) -> None:
    state = stream_state("a", video=video and {"codec": video}, audio=audio and {"codec": audio})
    assert undecodable(media_of(state, None)) == reason


def test_nothing_is_said_of_codecs_that_are_not_known_yet() -> None:
    assert undecodable(media_of(stream_state("a", video=None, audio=None), None)) is None
