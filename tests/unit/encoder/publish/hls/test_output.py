"""A recording lists all that was stored, whoever goes on with it."""

from __future__ import annotations

import pytest
from tests.support.delivery.bucket import names
from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_crds.session_error import SessionError
from onair_encoder.publish.hls import recording
from onair_encoder.publish.hls.segment_runs import SegmentRuns
from onair_encoder.publish.hls.storage_error import NotReadable

RUN = "run.m3u8"


@pytest.fixture
def long_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose playlist is so large that it is stored once in hours."""
    monkeypatch.setattr(recording, "PLAYLIST_BYTES_PER_S", 0.01)


def assert_whole(hls: HlsInMemory, segments: int) -> None:
    """It is closed, and every segment that is in the bucket is in it once."""
    text = hls.bucket.text(RUN)
    assert text.endswith("#EXT-X-ENDLIST\n")
    assert sorted(names(text)) == sorted(hls.bucket.segments)
    assert len(hls.bucket.segments) == segments
    assert set(hls.bucket.objects) == hls.bucket.segments | {RUN, "index.m3u8"}, "nothing else is left"


@pytest.mark.parametrize("epoch", [1, 2])
async def test_who_goes_on_lists_what_was_stored_and_not_listed(
    hls: HlsInMemory, long_recording: None, epoch: int
) -> None:
    """The agent that was restarted, or the successor in another pod."""
    bucket = hls.bucket
    first = await hls.publisher(epoch=1)
    hls.programme.segments(1)
    await bucket.until(lambda: RUN in bucket.objects, "a playlist")
    hls.programme.segments(3)
    await bucket.until(lambda: len(names(bucket.tail)) == 3, "three more segments in a note")
    assert len(names(bucket.text(RUN))) == 1
    await hls.kill(first)
    if epoch == 2:
        hls.another_pod()
    second = await hls.publisher(epoch=epoch)
    hls.programme.segments(1)
    await bucket.until(lambda: len(bucket.listed) == 5, "all are listed")
    await second.finish()
    assert_whole(hls, 6)
    assert bucket.text(RUN).count("#EXT-X-DISCONTINUITY\n") == 1


async def test_an_agent_that_is_restarted_lists_what_was_stored_while_no_playlist_could_be(
    hls: HlsInMemory,
) -> None:
    bucket = hls.bucket
    first = await hls.publisher()
    hls.programme.segments(1)
    await bucket.until(lambda: RUN in bucket.objects, "a playlist")
    bucket.refuses = lambda method, key: (
        SessionError("the storage has an internal error") if method == "PUT" and "m3u8" in key else None
    )
    hls.programme.segments(3)
    await bucket.until(lambda: len({*names(bucket.text(RUN)), *hls.noted}) == 4, "three more segments")
    await hls.kill(first)
    bucket.refuses = lambda method, key: None
    second = await hls.publisher()
    hls.programme.segments(1)
    await bucket.until(lambda: len(bucket.listed) == 5, "all are listed")
    await second.finish()
    assert_whole(hls, 6)
    assert not [each for each in hls.disk.rglob("*") if each.is_file()]


async def test_credentials_that_get_no_word_of_what_does_not_exist_are_enough(hls: HlsInMemory) -> None:
    """Without the right to list, storages deny reading what is not there."""
    bucket = hls.bucket
    bucket.refuses = lambda method, key: (
        NotReadable("denied", permanent=True) if method == "GET" and key not in bucket.objects else None
    )
    first = await hls.publisher(epoch=1)
    hls.programme.segments(2)
    await bucket.until(lambda: len(bucket.listed) == 2, "two segments")
    await hls.kill(first)
    second = await hls.publisher(epoch=2)
    hls.programme.segments(2)
    await bucket.until(lambda: len(bucket.listed) == 4, "two more")
    await second.finish()
    assert_whole(hls, 5)


async def test_an_agent_that_is_closed_while_it_drains_leaves_all_to_the_next_one(hls: HlsInMemory) -> None:
    bucket = hls.bucket
    bucket.hold(lambda method, key: method == "PUT")
    first = await hls.publisher()
    hls.programme.segments(4)
    first.destination.stop.set()
    await bucket.until(lambda: len(list(hls.disk.rglob("*.json"))) >= 3, "it drains")
    first.abort()
    await first.ended()
    bucket.release()
    hls.another_agent()
    second = await hls.publisher()
    await bucket.until(lambda: len(bucket.listed) == 5, "all are stored")
    await second.finish()
    assert len(names(bucket.text(RUN))) == 6, "with the one that was being cut, and the next one's"
    assert not [each for each in hls.disk.rglob("*") if each.is_file()]


@pytest.mark.parametrize("vod", [True, False])
async def test_a_displaced_encoder_leaves_no_segment_behind_that_nobody_lists(
    hls: HlsInMemory, monkeypatch: pytest.MonkeyPatch, vod: bool
) -> None:
    bucket, index = hls.bucket, RUN if vod else "index.m3u8"
    first = await hls.publisher(hls.wanted(vod=vod), epoch=1)
    hls.programme.segments(1)
    await bucket.until(lambda: index in bucket.objects, "a playlist")
    monkeypatch.setattr(recording, "PLAYLIST_BYTES_PER_S", 0.01)
    hls.programme.segments(3)
    await bucket.until(lambda: len(bucket.segments) == 4, "three more segments")
    await bucket.until(lambda: first.destination.counters.queued_bytes == 0, "all is noted or listed")
    hls.another_pod()
    second = await hls.publisher(hls.wanted(vod=vod), epoch=2)
    hls.programme.segments(1)
    await bucket.until(lambda: ".2." in bucket.text(index), "another has taken over")
    monkeypatch.setattr(recording, "PLAYLIST_BYTES_PER_S", 10**9)
    for _ in range(2):
        hls.programme.segments(1)
    await bucket.until(lambda: "encoder 2" in (first.destination.state.last_error or ""), "stood down")
    stored = puts_of_first(hls)

    def in_touch() -> bool:
        first.destination.run.contact.heard()
        first.retry_now()
        return first.destination.state.attempts > 1

    await bucket.until(in_touch, "tried again")
    await first.finish()
    await second.finish()
    await bucket.until(lambda: bucket.segments == known_of(bucket.text(index)), "nothing is left")
    assert not bucket.tail
    assert puts_of_first(hls) == stored, "it looks before it stores"


def known_of(text: str) -> set[str]:
    """The segments that a playlist names, and those that it says are to be deleted one day."""
    kept = SegmentRuns.kept(text)
    return {*names(text), *kept.oldest(len(kept))}


def puts_of_first(hls: HlsInMemory) -> int:
    return len([key for method, key in hls.bucket.requests if method == "PUT" and ".1." in key])


async def test_a_recording_of_an_earlier_broadcast_does_not_replace_the_later_ones_index(
    hls: HlsInMemory,
) -> None:
    """As where its node is cut off, and the show was stopped and started meanwhile."""
    bucket = hls.bucket
    earlier = await hls.publisher(run="run")
    hls.programme.segments(1)
    await bucket.until(lambda: names(bucket.text("index.m3u8")), "the first one's")
    hls.another_pod()
    later = await hls.publisher(run="later")
    hls.programme.segments(1)
    await bucket.until(lambda: "later" in bucket.text("index.m3u8"), "the later one's")
    hls.programme.segments(1)
    await bucket.until(lambda: len(bucket.listed) == 3, "the first one goes on")
    await earlier.finish()
    assert "run_rec" not in bucket.text("index.m3u8")
    assert bucket.text(RUN).endswith("#EXT-X-ENDLIST\n")
    await later.finish()
    assert bucket.text("index.m3u8") == bucket.text("later.m3u8")


async def test_a_bucket_that_takes_no_notes_takes_segments_all_the_same(
    hls: HlsInMemory, long_recording: None
) -> None:
    bucket = hls.bucket
    bucket.hold(lambda method, key: method == "PUT" and "-tail." in key)
    bucket.refuses = lambda method, key: SessionError("refused") if "-tail." in key else None
    publisher = await hls.publisher()
    hls.programme.segments(1)
    await bucket.until(lambda: RUN in bucket.objects, "a playlist")
    bucket.release()
    hls.programme.segments(20)
    await bucket.until(lambda: len({*names(bucket.text(RUN)), *hls.noted}) == 21, "all segments")
    assert publisher.destination.is_connected
    assert publisher.destination.state.attempts == 1
    assert len([key for _, key in bucket.requests if "-tail." in key]) == 1
    await publisher.finish()
    assert_whole(hls, 22)


async def test_a_recording_that_could_not_be_closed_at_its_longest_duration_is_closed_at_the_stop(
    hls: HlsInMemory,
) -> None:
    bucket = hls.bucket
    publisher = await hls.publisher(hls.wanted(max_duration_ms=2 * 2000))
    hls.programme.segments(1)
    await bucket.until(lambda: RUN in bucket.objects, "a playlist")
    bucket.refuses = lambda method, key: SessionError("not available") if key == RUN else None
    hls.programme.segments(1)
    await bucket.until(lambda: publisher.destination.state.last_error, "an error")
    publisher.destination.stop.set()
    await bucket.until(lambda: not hls.programme.fan_out._subscribers, "stopped")
    bucket.refuses = lambda method, key: None
    await publisher.finish()
    assert_whole(hls, 2)


@pytest.mark.parametrize("epoch", [1, 2])
async def test_with_credentials_that_may_only_write_no_list_of_what_was_stored_is_replaced(
    hls: HlsInMemory, epoch: int
) -> None:
    bucket = hls.bucket
    bucket.refuses = lambda method, key: NotReadable("denied", permanent=True) if method == "GET" else None
    first = await hls.publisher(epoch=1)
    hls.programme.segments(1)
    await bucket.until(lambda: RUN in bucket.objects, "a playlist")
    await hls.kill(first)
    second = await hls.publisher(epoch=epoch)
    hls.programme.segments(1)
    await bucket.until(lambda: second.destination.is_connected, "it goes on")
    await second.finish()
    (other,) = (key for key in bucket.objects if key.startswith(f"run.{epoch}.") and key != RUN)
    assert {*names(bucket.text(RUN)), *names(bucket.text(other))} == bucket.segments
    assert bucket.text("index.m3u8") == bucket.text(other)
    assert bucket.text(other).endswith("#EXT-X-ENDLIST\n")


async def test_a_list_that_may_not_be_read_is_not_replaced_either_after_a_failed_attempt(
    hls: HlsInMemory,
) -> None:
    bucket = hls.bucket
    denied, broken = NotReadable("denied", permanent=True), SessionError("no response")
    bucket.refuses = lambda method, key: denied if method == "GET" else None
    first = await hls.publisher(epoch=1)
    hls.programme.segments(1)
    await bucket.until(lambda: RUN in bucket.objects, "a playlist")
    await hls.kill(first)
    listed = bucket.text(RUN)
    bucket.refuses = lambda method, key: denied if method == "GET" else broken if key == RUN else None
    hls.another_pod()
    second = await hls.publisher(epoch=2)
    hls.programme.segments(1)
    await bucket.until(lambda: second.destination.state.last_error, "it could not be stored")
    bucket.refuses = lambda method, key: denied if method == "GET" else None
    second.retry_now()
    hls.programme.segments(1)
    await bucket.until(lambda: second.destination.is_connected, "it goes on")
    await second.finish()
    assert bucket.text(RUN) == listed
    (other,) = (key for key in bucket.objects if key.startswith("run.2."))
    assert {*names(listed), *names(bucket.text(other))} == bucket.segments


async def test_a_complete_recording_waits_for_nothing(hls: HlsInMemory) -> None:
    bucket = hls.bucket
    bucket.hold(lambda method, key: method == "PUT")
    publisher = await hls.publisher(hls.wanted(max_duration_ms=2 * 2000))
    hls.programme.segments(6)
    await bucket.until(lambda: len(list(hls.disk.rglob("*.ts"))) >= 4, "segments wait")
    bucket.release()
    await bucket.until(lambda: "maximum" in (publisher.destination.state.last_error or ""), "complete")
    assert publisher.destination.state.waiting_s == 0.0
    assert publisher.destination.counters.queued_bytes == 0
    assert not list(hls.disk.rglob("*.ts"))
    await publisher.finish()
    assert publisher.destination.state.missing_s == 0.0
    assert_whole(hls, 2)
