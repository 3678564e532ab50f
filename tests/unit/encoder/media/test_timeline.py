"""One clock across restarts of ffmpeg."""

from __future__ import annotations

from tests.support.media.packets import KEY

from onair_crds.media.flv import SCRIPT, VIDEO, Packet
from onair_encoder.media.timeline import Timeline


def test_time_continues_across_a_restart_and_never_goes_back() -> None:
    timeline = Timeline()
    times = [timeline.place(Packet(VIDEO, t, KEY), 100 + t / 1000).timestamp_ms for t in (500, 533, 566)]
    assert times == [0, 33, 66]
    timeline.restart()
    after = [timeline.place(Packet(VIDEO, t, KEY), 100.566 + 0.2 + t / 1000) for t in (0, 33)]
    assert [p.timestamp_ms for p in after] == [266, 299]
    timeline.restart()
    assert timeline.place(Packet(VIDEO, 0, KEY), 100.799).timestamp_ms > 299


def test_headers_of_a_resumed_stream_do_not_set_its_clock() -> None:
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
