"""When a recording's playlist is stored, and when it is complete."""

from __future__ import annotations

import datetime as dt

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.segmenter import Cut
from onair_encoder.publish.hls.presentation import SegmentWriter
from onair_encoder.publish.hls.recording import BEHIND_PLAYLIST_S, PLAYLIST_BYTES_PER_S, Recording

BEGAN = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)
STORAGE = ProgramStorage(
    region="eu-west-1", bucket="shows", access_key="AK", secret_key="s3cret", vod=True, max_duration_ms=4000
)


def add(recording: Recording, segment: Cut) -> None:
    recording.add(segment, recording.next_name)


def recording_of(segments: int) -> Recording:
    recording = Recording(STORAGE, SegmentWriter("run", 1, "a1"))
    for _ in range(segments):
        add(recording, Cut(b"", 2.0, BEGAN, False, 1))
    return recording


@pytest.mark.parametrize(
    ("size", "last", "pause_s"),
    [
        (1000, True, 1000 / PLAYLIST_BYTES_PER_S),
        (1000, False, BEHIND_PLAYLIST_S),
        (100 * PLAYLIST_BYTES_PER_S, True, 100.0),
        (100 * PLAYLIST_BYTES_PER_S, False, 100.0),
    ],
)
def test_the_larger_the_playlist_the_less_often_it_is_stored(size: int, last: bool, pause_s: float) -> None:
    recording = recording_of(1)
    recording.playlist_stored(1000.0, size)
    assert not recording.is_playlist_due(1000.0 + pause_s - 0.001, last=last)
    assert recording.is_playlist_due(1000.0 + pause_s + 0.001, last=last)


def test_a_playlist_that_ends_is_stored_at_once() -> None:
    recording = recording_of(1)
    recording.playlist_stored(1000.0, 10**9)
    recording.playlist.ended = True
    assert recording.is_playlist_due(1000.0, last=True)


def test_it_is_complete_at_its_longest_duration() -> None:
    assert [recording_of(segments).complete for segments in (0, 1, 2)] == [False, False, True]


def test_a_successor_resumes_all_of_it_and_deletes_nothing() -> None:
    successor = Recording(STORAGE, SegmentWriter("run", 1, "a1"))
    successor.resume(str(recording_of(1).playlist))
    assert successor.next_name == "run_rec-00000001.1.a1.ts"
    assert successor.obsolete() == []


def test_another_runs_recording_is_not_resumed() -> None:
    following = Recording(STORAGE, SegmentWriter("next", 1, "a1"))
    following.resume(str(recording_of(1).playlist))
    assert following.next_name == "next_rec-00000000.1.a1.ts"


def test_a_recording_stands_down_for_a_higher_epoch() -> None:
    first, second = (Recording(STORAGE, SegmentWriter("run", epoch, "a1")) for epoch in (1, 2))
    add(first, Cut(b"", 2.0, BEGAN, False, 1))
    second.resume(first.text())
    add(second, Cut(b"", 2.0, BEGAN, False, 1))
    assert first.displaced_by(second.text()) == "encoder 2 of this broadcast"
    assert second.displaced_by(first.text()) is None


def cut(at_s: float, *, after_a_hole: bool = False) -> Cut:
    return Cut(b"", 2.0, BEGAN + dt.timedelta(seconds=at_s), after_a_hole, 1)


def test_holes_are_missing_whoever_left_them() -> None:
    first = Recording(STORAGE, SegmentWriter("run", 1, "a1"))
    for at_s in (0.0, 2.0, 4.1, 10.1):
        add(first, cut(at_s, after_a_hole=at_s > 9))
    assert first.missing_s == pytest.approx(4.0), "of a spool that was full"
    second = Recording(STORAGE, SegmentWriter("run", 2, "b2"))
    second.resume(first.text())
    assert second.missing_s == pytest.approx(4.0), "a successor knows of them"
    add(second, cut(20.1))
    assert second.missing_s == pytest.approx(12.0), "and of what neither had"
    add(second, cut(24.1))
    assert second.missing_s == pytest.approx(12.0), "timestamps go on: the machine was busy"
