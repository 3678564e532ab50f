"""Playlists by RFC 8216, segments cut at key frames, a spool within its bound."""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_encoder.media.flv import AUDIO, VIDEO, Packet
from onair_encoder.publish.hls import segmenter
from onair_encoder.publish.hls.bucket import Patience, _address, lost_by
from onair_encoder.publish.hls.playlist import Playlist, Segment, named_segments
from onair_encoder.publish.hls.segmenter import Cut, Segmenter
from onair_encoder.publish.hls.spool import Budget, Spool

BEGAN = dt.datetime(2026, 11, 21, 12, 0, 0, 123000, tzinfo=dt.UTC)
RECORD = bytes((1, 66, 0, 30, 0xFF, 0xE1, 0, 4)) + b"\x67\x42\x00\x1e" + bytes((1, 0, 2)) + b"\x68\xce"
AVC_HEADER, AAC_HEADER = b"\x17\x00\0\0\0" + RECORD, b"\xaf\x00\x11\x90"
OTHER_HEADER = AVC_HEADER.replace(b"\x00\x1e", b"\x00\x1f")


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
    for number, duration in enumerate((2.0, 4.0, 2.0, 2.0)):
        first.add(segment(number, duration))
    assert "#EXT-X-TARGETDURATION:4\n" in str(first)
    second = Playlist(2.0, window=2)
    assert second.take_up(str(first), "run-")
    second.add(segment(4))
    assert "#EXT-X-TARGETDURATION:4\n" in str(second)


def test_what_one_encoder_wrote_another_goes_on_with() -> None:
    first = Playlist(2.0, window=3)
    for number in range(7):
        first.add(segment(number, 2.002, discontinuity=number == 5))
    first.ended = True
    second = Playlist(2.0, window=3)
    assert second.take_up(str(first), "run-")
    assert second.segments == first.segments
    assert second.next_sequence == 7
    assert not second.ended
    assert str(second) == str(first).removesuffix("#EXT-X-ENDLIST\n")
    for text in ("", "<html>", "#EXTM3U\n", str(first).replace("run-", "other-")):
        assert not Playlist(2.0, window=3).take_up(text, "run-")


def packets(
    seconds: float, gop_s: float = 1.0, header: bytes = AVC_HEADER, start_ms: int = 0
) -> list[Packet]:
    out = [Packet(VIDEO, start_ms, header), Packet(AUDIO, start_ms, AAC_HEADER)]
    for frame in range(round(seconds * 25)):
        time_ms = start_ms + frame * 40
        kind = b"\x17" if frame % round(gop_s * 25) == 0 else b"\x27"
        out.append(Packet(VIDEO, time_ms, kind + b"\x01\0\0\0\0\0\0\2\x65\x80"))
        out.append(Packet(AUDIO, time_ms, b"\xaf\x01sound"))
    return out


def cuts(segmenter: Segmenter, given: list[Packet]) -> list[Cut]:
    return [cut for packet in given if (cut := segmenter.put(packet))]


@pytest.mark.parametrize(
    ("target_ms", "gop_s", "expected"), [(2000, 1.0, 2.0), (2000, 3.0, 3.0), (5000, 2.0, 6.0)]
)
def test_segments_end_where_the_first_key_frame_after_the_target_begins(
    target_ms: int, gop_s: float, expected: float
) -> None:
    found = cuts(Segmenter(target_ms, lambda: BEGAN), packets(20, gop_s))
    assert {cut.duration_s for cut in found} == {expected}
    assert not any(cut.discontinuity for cut in found)
    assert all(cut.data[0] == 0x47 and len(cut.data) % 188 == 0 for cut in found)


def test_other_codecs_begin_another_segment_with_a_discontinuity() -> None:
    segmenter = Segmenter(2000, lambda: BEGAN)
    found = cuts(segmenter, packets(5) + packets(5, header=OTHER_HEADER, start_ms=5000))
    assert [cut.discontinuity for cut in found] == [False, False, False, True, False]
    assert [cut.duration_s for cut in found] == [2.0, 2.0, 1.0, 2.0, 2.0]
    rest = segmenter.flush()
    assert rest
    assert rest.duration_s == pytest.approx(1.0)
    assert segmenter.flush() is None


def test_codecs_that_change_before_the_first_key_frame_cost_no_picture() -> None:
    segmenter = Segmenter(2000, lambda: BEGAN)
    segmenter.put(Packet(VIDEO, 0, AVC_HEADER))
    given = packets(5, header=OTHER_HEADER)
    found = cuts(segmenter, given)
    rest = segmenter.flush()
    assert rest
    media = [packet for packet in given if not packet.header]
    assert sum(each.packets for each in [*found, rest]) == len(media)


def test_segments_begin_by_the_clock_where_the_one_before_ended() -> None:
    """Though the GOP so far is handed over all at once when somebody subscribes."""
    now = BEGAN
    segmenter = Segmenter(2000, lambda: now)
    found: list[Cut] = []
    for packet in packets(6.1):
        now = BEGAN + dt.timedelta(milliseconds=max(800, packet.timestamp_ms))
        found += cuts(segmenter, [packet])
    assert [(each.began - BEGAN).total_seconds() for each in found] == [0.0, 2.0, 4.0]


def cut(number: int, size: int = 100) -> Cut:
    return Cut(bytes([number]) * size, 2.0, BEGAN, False, 10)


def test_a_spool_gives_back_what_it_took_in_order(tmp_path: Path) -> None:
    async def story() -> None:
        budget = Budget(10_000)
        spool = Spool(tmp_path / "spool", budget, memory_bytes=250)
        for number in range(6):
            await spool.put(cut(number))
        assert (len(spool), spool.bytes) == (6, 600)
        assert budget.used_bytes == 400, "what is over the memory's share is on disk"
        for number in range(6):
            assert spool.first
            assert await spool.data(spool.first) == bytes([number]) * 100
            spool.done(spool.first)
        assert (spool.bytes, budget.used_bytes, spool.dropped_packets) == (0, 0, 0)
        assert not list((tmp_path / "spool").glob("*"))

    asyncio.run(story())


def test_a_full_spool_drops_the_oldest_but_the_one_on_its_way(tmp_path: Path) -> None:
    async def story() -> None:
        budget = Budget(300)
        spool = Spool(tmp_path / "spool", budget, memory_bytes=100)
        for number in range(8):
            await spool.put(cut(number))
        kept = []
        while spool.first:
            kept.append(((await spool.data(spool.first))[0], spool.first.cut.discontinuity))
            spool.done(spool.first)
        assert kept == [(0, False), (5, True), (6, False), (7, False)]
        assert spool.dropped_packets == 40
        assert budget.used_bytes == 0

    asyncio.run(story())


STORAGE = ProgramStorage(region="eu-west-1", bucket="shows", access_key="AK", secret_key="s3cret")


@pytest.mark.parametrize(
    ("status", "code", "words", "permanent"),
    [
        (404, "NoSuchBucket", "bucket shows was not found", True),
        (403, "AccessDenied", "access to bucket shows is denied", True),
        (403, "", "access to bucket shows is denied", True),
        (403, "InvalidAccessKeyId", "the access key is not known to host", True),
        (400, "ExpiredToken", "the session token has expired", True),
        (301, "PermanentRedirect", "bucket shows is not in region eu-west-1", True),
        (403, "RequestTimeTooSkewed", "the clocks of the encoder and of host differ", False),
        (507, "", "the storage is full", False),
        (503, "SlowDown", "host asks to slow down", False),
        (500, "", "host answered 500", False),
        (418, "Teapot", "host answered 418 Teapot", False),
    ],
)
def test_answers_of_a_storage_are_words(status: int, code: str, words: str, permanent: bool) -> None:
    lost = lost_by(status, code, STORAGE, "host")
    assert (str(lost), lost.permanent) == (words, permanent)


@pytest.mark.parametrize(
    ("bucket", "endpoint", "address"),
    [
        ("shows", None, ("https://shows.s3.eu-west-1.amazonaws.com", "")),
        ("my.shows", None, ("https://s3.eu-west-1.amazonaws.com", "/my.shows")),
        ("shows", "http://minio:9000", ("http://minio:9000", "/shows")),
        ("shows", "http://user:pass@minio:9000", ("http://minio:9000", "/shows")),
        ("shows", "https://a.example/s3/", ("https://a.example", "/s3/shows")),
    ],
)
def test_addresses_of_buckets(bucket: str, endpoint: str | None, address: tuple[str, str]) -> None:
    storage = STORAGE.model_copy(update={"bucket": bucket, "endpoint": endpoint})
    assert _address(storage) == address


async def test_a_segment_that_cannot_be_read_is_left_out_and_said(tmp_path: Path) -> None:
    spool = Spool(tmp_path, Budget(), memory_bytes=10)
    for number in range(3):
        await spool.put(cut(number))
    first = spool.first
    assert first
    spool.done(first)
    gone = spool.first
    assert gone
    assert gone.path
    gone.path.unlink()
    with pytest.raises(FileNotFoundError):
        await spool.data(gone)
    spool.leave_out(gone)
    following = spool.first
    assert following
    assert following.cut.discontinuity
    assert spool.dropped_packets == 10
    assert await spool.data(following) == bytes([2]) * 100


async def test_a_write_that_is_cancelled_takes_no_room(tmp_path: Path) -> None:
    budget = Budget()
    spool = Spool(tmp_path, budget, memory_bytes=10)
    await spool.put(cut(0))
    writing = asyncio.create_task(spool.put(cut(1, 20_000_000)))
    while not budget.used_bytes:  # noqa: ASYNC110
        await asyncio.sleep(0)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    assert writing.cancelled()
    spool.close()
    assert budget.used_bytes == 0


def test_another_runs_playlist_is_not_taken_up_though_its_id_begins_alike() -> None:
    other = Playlist(2.0, window=3)
    other.add(Segment("run-2-00000000.ts", 2.0, BEGAN))
    assert not Playlist(2.0, window=3).take_up(str(other), "run-")
    assert Playlist(2.0, window=3).take_up(str(other), "run-2-")


async def test_what_waits_spans_no_more_time_than_it_may(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", Budget(), most_s=6.0)
    for number in range(5):
        await spool.put(Cut(bytearray(b"%d" % number), 2.0, BEGAN, False, 1))
    found = []
    while waiting := spool.first:
        found.append((bytes(await spool.data(waiting)), waiting.cut.discontinuity))
        spool.done(waiting)
    assert found == [(b"0", False), (b"3", True), (b"4", False)]
    assert spool.dropped_packets == 2


def test_a_storage_that_is_slow_to_answer_is_given_longer_and_longer() -> None:
    patience, limits = Patience(), []
    for _ in range(8):
        limits.append(patience.limit_s(1.0))
        patience.exhausted(limits[-1])
    assert limits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_patience_follows_what_is_usual() -> None:
    patience = Patience()
    patience.answered(5.0)
    assert patience.limit_s(1.0) == 10
    for _ in range(60):
        patience.answered(0.1)
    assert patience.limit_s(1.0) == 1


def test_a_segment_that_grows_too_large_ends_and_the_rest_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(segmenter, "MOST_BYTES", 10_000)
    cutting = Segmenter(2000, lambda: BEGAN)
    for header in (Packet(VIDEO, 0, AVC_HEADER), Packet(AUDIO, 0, AAC_HEADER)):
        assert cutting.put(header) is None
    key, delta = b"\x17\x01\0\0\0" + bytes(4), b"\x27\x01\0\0\0\0\0\x03\xe8" + bytes(1000)
    cuts = [cutting.put(Packet(VIDEO, n * 40, delta if n else key)) for n in range(100)]
    (cut,) = [each for each in cuts if each]
    assert 10_000 < len(cut.data) < 13_000
    assert cutting.put(Packet(VIDEO, 4000, key)) is None
    after = cutting.put(Packet(VIDEO, 6000, key))
    assert after
    assert (after.discontinuity, after.packets) == (True, 1)
