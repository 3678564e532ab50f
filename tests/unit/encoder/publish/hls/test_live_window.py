"""Which segments a live window names, keeps and deletes."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.hls.live_window import DELETED_AT_ONCE, LiveWindow
from onair_encoder.publish.hls.playlist import named_segments
from onair_encoder.publish.hls.recording import Recording
from onair_encoder.publish.hls.segmenter import Cut

BEGAN = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)
STORAGE = ProgramStorage(
    region="eu-west-1", bucket="shows", access_key="AK", secret_key="s3cret", playlist_count=2, file_count=3
)


def cut(duration_s: float = 2.0) -> Cut:
    return Cut(b"", duration_s, BEGAN, False, 1)


def window_of(segments: int, run: str = "run") -> LiveWindow:
    window = LiveWindow(STORAGE, run)
    for _ in range(segments):
        window.add(cut())
    return window


def delete_all(window: LiveWindow) -> list[str]:
    gone: list[str] = []
    while names := window.obsolete():
        for name in names:
            window.deleted(name)
        gone += names
    return gone


def test_segments_beyond_those_that_are_kept_are_deleted_a_few_at_a_time() -> None:
    window = window_of(10)
    assert len(window.obsolete()) == DELETED_AT_ONCE
    assert delete_all(window) == [f"run-{number:08}.ts" for number in range(7)]
    assert named_segments(str(window.playlist)) == ["run-00000008.ts", "run-00000009.ts"]


def test_a_deletion_that_failed_is_repeated() -> None:
    window = window_of(5)
    first, second = window.obsolete()
    window.deleted(first)
    assert window.obsolete() == [second]


def test_a_successor_of_the_same_run_resumes_numbers_after_a_discontinuity_and_deletes_in_order() -> None:
    successor = LiveWindow(STORAGE, "run")
    successor.resume(str(window_of(10).playlist))
    assert successor.next_name == "run-00000010.ts"
    successor.add(cut())
    assert successor.playlist.segments[-1].discontinuity
    assert delete_all(successor) == ["run-00000007.ts"]


def test_the_next_run_begins_at_0_and_deletes_what_the_last_one_left() -> None:
    following = LiveWindow(STORAGE, "next")
    following.resume(str(window_of(10).playlist))
    assert following.next_name == "next-00000000.ts"
    assert delete_all(following) == [f"run-{number:08}.ts" for number in (7, 8, 9)]


def test_a_recording_in_the_same_place_is_left_alone() -> None:
    recording = Recording(STORAGE, "run")
    recording.add(cut())
    window = LiveWindow(STORAGE, "run")
    window.resume(str(recording.playlist))
    assert window.next_name == "run-00000000.ts"
    assert delete_all(window) == []


def test_a_playlist_that_may_not_be_read_is_resumed_with_greater_numbers() -> None:
    window = LiveWindow(STORAGE, "run")
    window.resume_unread()
    assert window.playlist.next_sequence > 1_700_000_000
    window.add(cut())
    assert window.playlist.segments[-1].discontinuity


def test_the_spool_covers_the_window_and_a_minute_at_least() -> None:
    assert LiveWindow(STORAGE, "run").spool_s == 60
    long = STORAGE.model_copy(update={"playlist_count": 100, "file_count": 100})
    assert LiveWindow(long, "run").spool_s == 200
