"""Playlists by RFC 8216."""

from __future__ import annotations

import datetime as dt

import pytest

from onair_crds.media.playlist import Playlist, Segment, named_segments

BEGAN = dt.datetime(2026, 11, 21, 12, 0, 0, 123000, tzinfo=dt.UTC)


def segment(number: int, duration_s: float = 2.0, **more: bool) -> Segment:
    return Segment(f"run-{number:08}.ts", duration_s, BEGAN, **more)


def test_a_window_names_its_last_segments_and_counts_those_that_left() -> None:
    playlist = Playlist(2.0, window=3)
    for number in range(5):
        playlist.add(segment(number, discontinuity=number == 1))
    text = str(playlist)
    assert named_segments(text) == [f"run-{number:08}.ts" for number in (2, 3, 4)]
    assert "#EXT-X-MEDIA-SEQUENCE:2\n" in text
    assert "#EXT-X-DISCONTINUITY-SEQUENCE:1\n" in text
    assert "PLAYLIST-TYPE" not in text
    assert playlist.next_sequence == 5
    assert text.startswith("#EXTM3U\n")
    assert "#EXT-X-PROGRAM-DATE-TIME:2026-11-21T12:00:00.123Z\n" in text


def test_a_recording_names_all_and_is_closed() -> None:
    playlist = Playlist(2.0, window=None)
    for number in range(50):
        playlist.add(segment(number))
    assert "#EXT-X-PLAYLIST-TYPE:EVENT\n" in str(playlist)
    playlist.ended = True
    text = str(playlist)
    assert "#EXT-X-PLAYLIST-TYPE:VOD\n" in text
    assert text.endswith("#EXT-X-ENDLIST\n")
    assert len(named_segments(text)) == 50
    assert playlist.total_s == 100


@pytest.mark.parametrize(
    ("durations", "target"), [([2.0, 2.0], 2), ([2.0, 2.4], 2), ([2.0, 2.5], 3), ([4.0], 4), ([], 2)]
)
def test_no_segment_is_longer_than_the_target_says(durations: list[float], target: int) -> None:
    playlist = Playlist(2.0, window=None)
    for number, duration in enumerate(durations):
        playlist.add(segment(number, duration))
    assert f"#EXT-X-TARGETDURATION:{target}\n" in str(playlist)


def test_the_target_never_falls_not_even_for_another_encoder() -> None:
    first = Playlist(2.0, window=2)
    for number, duration in enumerate((2.0, 4.0, *[2.0] * 8)):
        first.add(segment(number, duration))
    assert "#EXT-X-TARGETDURATION:4\n" in str(first)
    second = Playlist(2.0, window=2)
    assert second.resume(str(first), "run-")
    second.add(segment(10))
    assert "#EXT-X-TARGETDURATION:4\n" in str(second)


def test_another_encoder_resumes_a_playlist() -> None:
    first = Playlist(2.0, window=3)
    for number in range(7):
        first.add(segment(number, 2.002, discontinuity=number == 5))
    first.ended = True
    second = Playlist(2.0, window=3)
    assert second.resume(str(first), "run-")
    assert second.segments == first.segments
    assert second.next_sequence == 7
    assert not second.ended
    assert str(second) == str(first).removesuffix("#EXT-X-ENDLIST\n")
    for text in ("", "<html>", "#EXTM3U\n", str(first).replace("run-", "other-")):
        assert not Playlist(2.0, window=3).resume(text, "run-")


def test_another_runs_playlist_is_not_resumed_though_its_id_begins_alike() -> None:
    other = Playlist(2.0, window=3)
    other.add(Segment("run-2-00000000.ts", 2.0, BEGAN))
    assert not Playlist(2.0, window=3).resume(str(other), "run-")
    assert Playlist(2.0, window=3).resume(str(other), "run-2-")
