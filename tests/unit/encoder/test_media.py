"""FLV in, one clock, every packet to everybody."""

from __future__ import annotations

import pytest

from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.flv import AUDIO, SCRIPT, VIDEO, FlvError, FlvReader, Packet
from onair_encoder.media.timeline import Timeline

KEY, DELTA = b"\x17\x01\0\0\0key", b"\x27\x01\0\0\0delta"
AVC_HEADER, AAC_HEADER, SOUND = b"\x17\x00\0\0\0avcc", b"\xaf\x00\x11\x90", b"\xaf\x01sound"


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


def test_time_goes_on_over_a_restart_and_never_back() -> None:
    timeline = Timeline()
    times = [timeline.place(Packet(VIDEO, t, KEY), 100 + t / 1000).timestamp_ms for t in (500, 533, 566)]
    assert times == [0, 33, 66]
    timeline.restart()
    after = [timeline.place(Packet(VIDEO, t, KEY), 100.566 + 0.2 + t / 1000) for t in (0, 33)]
    assert [p.timestamp_ms for p in after] == [266, 299]
    timeline.restart()
    assert timeline.place(Packet(VIDEO, 0, KEY), 100.799).timestamp_ms > 299


class Collector:
    def __init__(self) -> None:
        self.packets: list[Packet] = []

    def packet(self, packet: Packet) -> None:
        self.packets.append(packet)


def test_a_late_subscriber_gets_headers_and_the_gop_so_far() -> None:
    fan_out = FanOut()
    early = Collector()
    assert fan_out.subscribe(early) == []
    for packet in FlvReader().feed(STREAM):
        fan_out.put(packet)
    assert [p.body for p in early.packets][:3] == [b"\x02\x00\x0aonMetaData", AVC_HEADER, AAC_HEADER]
    first = fan_out.subscribe(Collector())
    assert [p.body for p in first[1:]] == [AVC_HEADER, AAC_HEADER, KEY, SOUND, DELTA]
    fan_out.put(Packet(VIDEO, 0x01000031, KEY))
    assert [p.body for p in fan_out.subscribe(Collector())[3:]] == [KEY]


def test_the_rate_is_that_since_the_last_key_frame() -> None:
    fan_out = FanOut()
    assert fan_out.bytes_per_s == 0
    fan_out.put(Packet(VIDEO, 0, KEY[:5] + bytes(995)))
    for time_ms in range(100, 1100, 100):
        fan_out.put(Packet(VIDEO, time_ms, DELTA[:5] + bytes(95)))
    assert fan_out.bytes_per_s == 2000


def test_headers_are_sent_again_only_when_they_change() -> None:
    fan_out, subscriber = FanOut(), Collector()
    fan_out.subscribe(subscriber)
    for _ in range(2):
        fan_out.stream_begins()
        fan_out.put(Packet(VIDEO, 0, AVC_HEADER))
    assert len(subscriber.packets) == 1
    fan_out.stream_begins()
    fan_out.put(Packet(VIDEO, 0, AVC_HEADER + b"another size"))
    assert len(subscriber.packets) == 2


def test_headers_of_a_stream_that_is_taken_up_again_do_not_say_where_its_clock_is() -> None:
    timeline = Timeline()
    timeline.place(Packet(VIDEO, 0, KEY), 100.0)
    timeline.place(Packet(VIDEO, 3_600_000, KEY), 3700.0)
    timeline.restart()
    header = b"\x17\x00\0\0\0"
    times = [
        timeline.place(packet, 3700.1).timestamp_ms
        for packet in (Packet(SCRIPT, 0, b""), Packet(VIDEO, 0, header), Packet(VIDEO, 3_600_100, KEY))
    ]
    assert times == [3_600_000, 3_600_000, 3_600_100]
