"""Packets come whole out of FLV, however its bytes come."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.media.packets import AAC_HEADER, AVC_HEADER, DELTA, KEY, SOUND

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, FlvError, FlvReader, Packet


def tag(type_: int, time_ms: int, body: bytes) -> bytes:
    head = bytes((type_,)) + len(body).to_bytes(3, "big") + (time_ms & 0xFFFFFF).to_bytes(3, "big")
    return head + bytes((time_ms >> 24 & 0xFF,)) + b"\0\0\0" + body + (11 + len(body)).to_bytes(4, "big")


STREAM = (
    b"FLV\x01\x05\0\0\0\x09\0\0\0\0"
    + tag(SCRIPT, 0, b"\x02\x00\x0aonMetaData")
    + tag(VIDEO, 0, AVC_HEADER)
    + tag(AUDIO, 0, AAC_HEADER)
    + tag(VIDEO, 33, KEY)
    + tag(AUDIO, 40, SOUND)
    + tag(VIDEO, 0x01000010, DELTA)
)


@pytest.mark.parametrize("piece", [1, 7, 11, 64, 10_000])
def test_packets_come_whole_however_the_bytes_come(piece: int) -> None:
    reader = FlvReader()
    packets = [p for i in range(0, len(STREAM), piece) for p in reader.feed(STREAM[i : i + piece])]
    assert [(p.type, p.timestamp_ms) for p in packets] == [
        (SCRIPT, 0),
        (VIDEO, 0),
        (AUDIO, 0),
        (VIDEO, 33),
        (AUDIO, 40),
        (VIDEO, 0x01000010),
    ]
    assert [p.header for p in packets] == [False, True, True, False, False, False]
    assert [p.keyframe for p in packets] == [False, False, False, True, False, False]


def test_an_end_of_sequence_is_no_key_frame() -> None:
    end = Packet(VIDEO, 0, b"\x17\x02\0\0\0")
    assert not end.keyframe
    assert not end.header


def test_what_is_not_flv_is_refused() -> None:
    with pytest.raises(FlvError):
        list(FlvReader().feed(b"HTTP/1.1 200 OK\r\n"))


def test_times_go_on_where_those_of_a_stream_begin_again() -> None:
    """After 24.8 days; audio and video cross the end one after the other."""
    reader = FlvReader()
    times = [
        2**31 - 20,
        2**31 - 5,
        2**31 + 13,
        2**31 - 1,
        2**31 + 20,
        2**31 + 2**29,
        2**31 + 2**30,
        2**31 + 3 * 2**29,
        2**32 + 7,
    ]
    stream = b"FLV\x01\x05\0\0\0\x09\0\0\0\0" + b"".join(tag(VIDEO, time % 2**31, DELTA) for time in times)
    assert [packet.timestamp_ms for packet in reader.feed(stream)] == times


@pytest.mark.fuzz
@given(
    st.lists(
        st.builds(tag, st.integers(0, 255), st.integers(0, 2**32 - 1), st.binary(max_size=8))
        | st.binary(max_size=20),
        max_size=8,
    ).map(b"".join),
    st.integers(1, 40),
)
@example(tag(VIDEO, 0, b"\x17") + tag(AUDIO, 0, b"\xaf"), 100)
def test_any_tags_are_packets_or_none(data: bytes, piece: int) -> None:
    reader = FlvReader()
    stream = b"FLV\x01\x05\0\0\0\x09\0\0\0\0" + data
    packets = [p for i in range(0, len(stream), piece) for p in reader.feed(stream[i : i + piece])]
    for packet in packets:
        assert packet.body
        assert not (packet.header and packet.keyframe)
    assert sum(len(each.body) for each in packets) <= len(data)


@pytest.mark.fuzz
@given(st.binary(max_size=40))
def test_any_bytes_are_packets_or_no_flv(data: bytes) -> None:
    with contextlib.suppress(FlvError):
        list(FlvReader().feed(data))
