"""Segments are cut at key frames."""

from __future__ import annotations

import datetime as dt

import pytest
from tests.support.media.packets import VIDEO_HEADER, frame

from onair_crds.media.flv import AUDIO, VIDEO, Packet
from onair_crds.media.segmenter import Cut, Segmenter

BEGAN = dt.datetime(2026, 11, 21, 12, 0, 0, 123000, tzinfo=dt.UTC)
RECORD = bytes((1, 66, 0, 30, 0xFF, 0xE1, 0, 4)) + b"\x67\x42\x00\x1e" + bytes((1, 0, 2)) + b"\x68\xce"
AVC_HEADER, AAC_HEADER = b"\x17\x00\0\0\0" + RECORD, b"\xaf\x00\x11\x90"
OTHER_HEADER = AVC_HEADER.replace(b"\x00\x1e", b"\x00\x1f")


def packets(
    seconds: float, gop_s: float = 1.0, header: bytes = AVC_HEADER, start_ms: int = 0
) -> list[Packet]:
    out = [Packet(VIDEO, start_ms, header), Packet(AUDIO, start_ms, AAC_HEADER)]
    for number in range(round(seconds * 25)):
        time_ms = start_ms + number * 40
        kind = b"\x17" if number % round(gop_s * 25) == 0 else b"\x27"
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


def test_what_is_taken_again_after_a_flush_has_times_of_its_own() -> None:
    """As where a recording ends within a GOP and goes on before the next."""
    segmenter, gop = Segmenter(2000, lambda: BEGAN), packets(1.6, gop_s=2.0)
    cuts(segmenter, gop)
    segmenter.flush()
    (again,) = cuts(segmenter, gop + packets(0.4, header=AVC_HEADER, start_ms=2000))
    (fresh,) = cuts(Segmenter(2000, lambda: BEGAN), gop + packets(0.4, header=AVC_HEADER, start_ms=2000))
    assert again.data == fresh.data
    assert (again.discontinuity, fresh.discontinuity) == (True, False)


def test_codecs_that_change_before_the_first_key_frame_cost_no_frame() -> None:
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


def test_a_segment_that_grows_too_large_ends_and_the_rest_is_dropped() -> None:
    cutting = Segmenter(2000, lambda: BEGAN, most_bytes=10_000)
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


def test_filler_is_not_stored() -> None:
    sizes = []
    for filler in (b"", b"\x0c" + b"\xff" * 5000):
        cutter = Segmenter(1000, lambda: BEGAN)
        cutter.put(VIDEO_HEADER)
        for at_ms in range(0, 1100, 100):
            units = [b"\x65slice", *([filler] if filler else [])]
            if cut := cutter.put(frame(*units, keyframe=at_ms % 1000 == 0, at_ms=at_ms)):
                sizes.append(len(cut.data))
    assert len(sizes) == 2
    assert sizes[0] == sizes[1]


def test_audio_that_is_alone_is_cut_at_the_target_and_each_segment_begins_with_tables_and_the_clock() -> None:
    segmenter = Segmenter(1000, lambda: BEGAN, types=(AUDIO,))
    segmenter.put(Packet(AUDIO, 0, AAC_HEADER))
    found = cuts(segmenter, [Packet(AUDIO, at_ms, b"\xaf\x01sound") for at_ms in range(0, 5000, 20)])
    assert [each.duration_s for each in found] == [0.98] * 5, "20 ms short is long enough"
    for each in found:
        tables, clock = each.data[: 2 * 188], each.data[2 * 188 :]
        assert tables[1:3] + tables[189:191] == b"\x40\x00\x50\x00"
        assert (clock[1:3], clock[5]) == (b"\x41\x01", 0x50)
    assert not any(each.discontinuity for each in found)
    rest = segmenter.flush()
    assert rest
    assert sum(each.packets for each in [*found, rest]) == 250


def test_what_is_not_taken_begins_nothing() -> None:
    segmenter = Segmenter(1000, lambda: BEGAN, types=(AUDIO,))
    found = cuts(segmenter, packets(3))
    assert all(each.packets == 25 for each in found)
