"""Playlists by RFC 8216."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from onair_crds.media import playlist as playlist_module
from onair_crds.media.playlist import Playlist, Segment, last_named, lines_of, named_segments

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


class WatchedText(str):
    """Knows how much of it was taken."""

    taken = 0

    def __getitem__(self, key: Any) -> str:
        found = super().__getitem__(key)
        self.taken += len(found)
        return found

    def splitlines(self, keepends: bool = False) -> list[str]:
        raise AssertionError("a list of all lines")


def test_of_a_large_text_only_the_end_is_looked_at_for_the_last_name() -> None:
    text = WatchedText("#EXTM3U\n" + "a\n" * 1_000_000 + "run-1.ts\r\n\n#EXT-X-ENDLIST\n")
    assert last_named(text) == "run-1.ts"
    assert text.taken < 10_000


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("", ""),
        ("#EXTM3U\n", ""),
        ("a.ts\nb.ts", "b.ts"),
        ("other-run-1.ts\n#" + "x" * 4085, ""),
        ("a.ts\n" * 2000 + "#" + "x" * 4000, "a.ts"),
    ],
    ids=["nothing", "none", "two", "half of one", "many"],
)
def test_half_a_name_is_no_last_one(text: str, last: str) -> None:
    assert last_named(text) == last


def test_lines_are_taken_one_by_one() -> None:
    text = WatchedText("#EXTM3U\r\n\n" + "a\n" * 1000 + "b")
    lines = lines_of(text)
    assert [next(lines), next(lines)] == ["#EXTM3U", "a"]
    assert text.taken < 20
    assert [*lines][-2:] == ["a", "b"]


def test_another_runs_playlist_is_read_no_further_than_its_first_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def watched(text: str) -> Iterator[str]:
        for line in lines_of(text):
            read.append(line)
            yield line

    monkeypatch.setattr(playlist_module, "lines_of", watched)
    text = "#EXTM3U\n#EXTINF:2.000,\n" + "other-1.ts\n" * 1000
    playlist = Playlist(2.0, window=None)
    assert not playlist.resume(text, "run-")
    assert len(read) == 3
    assert playlist.follow(text)
    assert (playlist.next_sequence, len(playlist.segments)) == (1000, 0)
