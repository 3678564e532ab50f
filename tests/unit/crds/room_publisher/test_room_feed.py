"""Which packets a room's process is given."""

from __future__ import annotations

from typing import Any

from tests.support.media.packets import VIDEO_HEADER, frame

from onair_crds.media.flv import AUDIO, Packet
from onair_crds.room_publisher import pipe
from onair_crds.room_publisher.room_feed import MAX_UNSENT_BYTES, RoomFeed


class SlowProcess:
    def __init__(self) -> None:
        self.unsent = 0
        self.taken: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.taken.append(data)


def test_a_session_begins_with_the_newest_key_frame_and_goes_on_with_the_next() -> None:
    process: Any = SlowProcess()
    feed = RoomFeed(process)
    key, next_key = frame(b"\x65a", keyframe=True), frame(b"\x65b", keyframe=True, at_ms=1000)
    late_audio = Packet(AUDIO, 1, b"\xaf\x01a")
    feed.begin([VIDEO_HEADER, key, late_audio, frame(b"\x41x")])
    feed.packet(frame(b"\x41y"))
    feed.packet(next_key)
    feed.packet(frame(b"\x41z"))
    wanted = [VIDEO_HEADER, key, next_key, frame(b"\x41z")]
    assert process.taken == [pipe.packet_message(packet) for packet in wanted]
    assert feed.take_dropped() == 0


def test_a_slow_process_is_given_nothing_up_to_a_key_frame() -> None:
    process: Any = SlowProcess()
    feed = RoomFeed(process)
    feed.packet(frame(b"\x65a", keyframe=True))
    process.unsent = MAX_UNSENT_BYTES + 1
    for packet in (frame(b"\x41a"), Packet(AUDIO, 1, b"\xaf\x01a"), frame(b"\x65b", keyframe=True)):
        feed.packet(packet)
    process.unsent = 0
    feed.packet(frame(b"\x41c"))
    assert len(process.taken) == 1
    feed.packet(frame(b"\x65d", keyframe=True))
    feed.packet(frame(b"\x41d"))
    assert len(process.taken) == 3
    assert feed.take_dropped() == 4
