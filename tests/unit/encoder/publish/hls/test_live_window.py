"""Which segments a live window names, keeps and deletes."""

from __future__ import annotations

import dataclasses
import datetime as dt

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.playlist import named_segments
from onair_crds.media.segmenter import Cut
from onair_encoder.publish.hls.live_window import DELETED_AT_ONCE, LiveWindow
from onair_encoder.publish.hls.presentation import SegmentWriter
from onair_encoder.publish.hls.recording import Recording

BEGAN = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)
STORAGE = ProgramStorage(
    region="eu-west-1", bucket="shows", access_key="AK", secret_key="s3cret", playlist_count=2, file_count=3
)


def cut(duration_s: float = 2.0) -> Cut:
    return Cut(b"", duration_s, BEGAN, False, 1)


def writer(run: str = "run", epoch: int = 1) -> SegmentWriter:
    return SegmentWriter(run, epoch, "a1")


def named(run: str, *numbers: int, epoch: int = 1) -> list[str]:
    return [f"{run}-{number:08}.{epoch}.a1.ts" for number in numbers]


def window_of(segments: int, run: str = "run", epoch: int = 1, after: str = "") -> LiveWindow:
    window = LiveWindow(STORAGE, writer(run, epoch))
    window.resume(after)
    for _ in range(segments):
        add(window)
    return window


def add(window: LiveWindow | Recording, segment: Cut | None = None) -> None:
    window.add(segment or cut(), window.next_name)


def delete_all(window: LiveWindow) -> list[str]:
    gone: list[str] = []
    while names := window.obsolete():
        for name in names:
            window.deleted(name)
        gone += names
    return gone


def test_segments_beyond_those_that_are_kept_are_deleted_a_few_at_a_time() -> None:
    window = window_of(20)
    assert len(window.obsolete()) == DELETED_AT_ONCE
    assert delete_all(window) == named("run", *range(13))
    assert named_segments(window.text()) == named("run", 17, 18, 19)


def test_a_small_window_names_three_target_durations_and_keeps_what_a_player_may_still_fetch() -> None:
    """RFC 8216, 6.2.2: whoever fetched a playlist may fetch its segments for as long as it lasts."""
    window = LiveWindow(STORAGE, writer())
    for number in range(30):
        add(window, cut(2.0 if number % 3 else 1.0))
        text = str(window.playlist)
        shown = list(window.playlist.segments)
        if number > 6:
            assert sum(each.duration_s for each in shown) >= 6
            assert sum(each.duration_s for each in shown[1:]) < 6 or len(shown) == 2
            assert "#EXT-X-TARGETDURATION:2\n" in text
        delete_all(window)
    assert len(window._stored) == 2 * len(window.playlist.segments) + 1


def test_a_bucket_that_lets_nothing_be_deleted_costs_no_longer_text_with_each_segment() -> None:
    window = window_of(20)
    length = len(window.text())
    for _ in range(5000):
        add(window)
    assert len(window.text()) < length + 50
    assert window.undeleted > 5000
    assert window_of(0, epoch=2, after=window.text()).undeleted == window.undeleted


def test_a_deletion_that_failed_is_repeated() -> None:
    window = window_of(9)
    first, second = window.obsolete()
    window.deleted(first)
    assert window.obsolete() == [second]


def test_a_successor_of_the_same_run_resumes_numbers_after_a_discontinuity_and_deletes_in_order() -> None:
    successor = window_of(1, epoch=2, after=window_of(20).text())
    assert named_segments(successor.text()) == [*named("run", 18, 19), *named("run", 20, epoch=2)]
    assert successor.playlist.segments[-1].discontinuity
    for _ in range(9):
        add(successor)
    assert delete_all(successor) == [*named("run", *range(20)), *named("run", 20, 21, 22, epoch=2)]


def test_a_restarted_agent_gives_no_name_twice() -> None:
    text = window_of(5).text()
    names = set()
    for process in ("a1", "b2"):
        window = LiveWindow(STORAGE, SegmentWriter("run", 1, process))
        window.resume(text)
        names.add(window.next_name)
    assert names == {"run-00000005.1.a1.ts", "run-00000005.1.b2.ts"}


def test_the_next_run_takes_the_numbers_on_and_deletes_what_the_last_one_left() -> None:
    last = window_of(10)
    add(last, dataclasses.replace(cut(), discontinuity=True))
    following = window_of(1, "next", after=last.text())
    text = following.text()
    assert named_segments(text) == named("next", 11)
    assert "#EXT-X-MEDIA-SEQUENCE:11\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n" in text
    assert "#EXT-X-DISCONTINUITY\n" in text
    assert delete_all(following) == named("run", *range(11))


def test_what_is_left_to_delete_outlives_two_encoders() -> None:
    following = window_of(1, "next", after=window_of(5).text())
    third = window_of(0, "next", epoch=2, after=following.text())
    assert delete_all(third) == named("run", *range(5))


def test_what_an_earlier_version_stored_is_resumed_and_deleted() -> None:
    text = window_of(10).text()
    old = "\n".join(line for line in text.splitlines() if not line.startswith("#ONAIR")).replace(".1.a1", "")
    storage = STORAGE.model_copy(update={"file_count": 5})
    successor = LiveWindow(storage, writer(epoch=2))
    successor.resume(old)
    assert successor.next_name == "run-00000010.2.a1.ts"
    assert successor._stored.oldest(9) == [f"run-{number:08}.ts" for number in (5, 6, 7, 8, 9)]


def test_it_stands_down_for_a_higher_epoch_and_for_another_broadcast_that_came_later() -> None:
    window = window_of(3, epoch=3)
    taken = window_of(1, epoch=4, after=window.text()).text()
    other = window_of(1, "next", after=window.text()).text()
    assert window.displaced_by(other) is None, "it may be what the last broadcast left"
    window.playlist_stored(0.0, 1)
    assert window.displaced_by(taken) == "encoder 4 of this broadcast"
    assert window.displaced_by(other) == "another broadcast"
    for harmless in ("", "<html>", window.text(), window_of(3, epoch=2).text()):
        assert window.displaced_by(harmless) is None


def test_it_goes_on_after_another_broadcast_that_has_ended_and_deletes_what_both_have_stored() -> None:
    window = window_of(3)
    window.playlist_stored(0.0, 1)
    other = window_of(2, "next", after=window_of(2).text())
    assert not window.may_take_back(other.text()), "it is live"
    other.playlist.ended = True
    assert window.displaced_by(other.text()) == "another broadcast", "who is live is displaced all the same"
    assert window.may_take_back(other.text())
    window.take_back(other.text())
    assert window.next_name == named("run", 4)[0]
    assert delete_all(window) == [*named("run", 0, 1, 2), *named("next", 2, 3)]
    add(window)
    assert window.playlist.segments[0].discontinuity
    assert named_segments(window.text()) == named("run", 4)
    assert window.displaced_by(other.text()) is None


def test_it_gives_no_number_again_that_it_has_given_while_another_broadcast_was_there() -> None:
    window = window_of(9)
    window.playlist_stored(0.0, 1)
    add(window)
    window.withdraw(set())
    other = window_of(1, "next", after=window_of(2).text())
    other.playlist.ended = True
    window.take_back(other.text())
    assert window.next_name == named("run", 10)[0]


def test_it_does_not_go_on_after_an_encoder_of_its_own_broadcast_that_has_ended_it() -> None:
    window = window_of(3)
    successor = window_of(1, epoch=2, after=window.text())
    successor.playlist.ended = True
    assert not window.may_take_back(successor.text())


def test_a_recording_in_the_same_place_is_left_alone() -> None:
    recording = Recording(STORAGE, writer())
    add(recording)
    window = LiveWindow(STORAGE, writer())
    for text in (recording.text(), recording.text()[:150]):
        window.resume(text)
        assert window.next_name == "run-00000000.1.a1.ts"
        assert delete_all(window) == []


def test_a_playlist_that_may_not_be_read_is_resumed_with_greater_numbers() -> None:
    window = LiveWindow(STORAGE, writer())
    window.resume_unread()
    assert window.playlist.next_sequence > 1_700_000_000
    add(window)
    assert window.playlist.segments[-1].discontinuity


def test_the_spool_covers_the_window_and_a_minute_at_least() -> None:
    assert LiveWindow(STORAGE, writer()).spool_s == 60
    long = STORAGE.model_copy(update={"playlist_count": 100, "file_count": 100})
    assert LiveWindow(long, writer()).spool_s == 200


def test_what_an_encoder_of_a_lower_epoch_stores_late_is_deleted_once_however_often_it_is_seen() -> None:
    window = window_of(1, epoch=2, after=window_of(3).text())
    late = window_of(6).text()
    for _ in range(3):
        window.overtake(window.stored_late(late))
    assert delete_all(window) == named("run", 3, 4, 5)
