"""Every packet goes to every subscriber, and to a late one the GOP so far."""

from __future__ import annotations

import pytest
from tests.support.media.packets import AAC_HEADER, AVC_HEADER, DELTA, KEY, SOUND, Collector

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, FlvReader, Packet
from onair_encoder.media.fan_out import FanOut


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


def test_the_bitrate_is_that_since_the_last_key_frame() -> None:
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


class BrokenSubscriber:
    def packet(self, packet: Packet) -> None:
        raise ValueError("rtmp://a.example/s3cret")


def test_a_subscriber_that_fails_costs_the_others_nothing_and_is_logged_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fan_out, broken, subscriber = FanOut(), BrokenSubscriber(), Collector()
    fan_out.subscribe(broken)
    fan_out.subscribe(subscriber)
    for time_ms in (0, 33, 66):
        fan_out.put(Packet(VIDEO, time_ms, KEY))
    assert len(subscriber.packets) == 3
    logged = capsys.readouterr().err
    assert logged.count("subscriber.failed") == 1
    assert "s3cret" not in logged
