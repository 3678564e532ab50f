"""What a feed drops where its sink is congested."""

from __future__ import annotations

from tests.support.media.packets import VIDEO_HEADER, picture, sound

from onair_crds.media.flv import Packet
from onair_encoder.publish.packet_feed import PacketFeed


class Narrow:
    """An outlet with room for so many packets."""

    over = False
    one_size = False
    worn_out = False

    def __init__(self, room: int, *, audio_continues: bool = False) -> None:
        self.room = room
        self.audio_continues = audio_continues
        self.sent: list[Packet] = []

    @property
    def congested(self) -> bool:
        return self.room <= 0

    @property
    def relieved(self) -> bool:
        return self.room > 2

    def send(self, packet: Packet) -> None:
        self.room -= 1
        self.sent.append(packet)


def test_where_the_sink_is_congested_frames_are_dropped_up_to_a_key_frame() -> None:
    outlet = Narrow(2)
    feed = PacketFeed(outlet)
    key, delta, tone = picture(0, b"k", key=True), picture(1, b"d"), sound(1, b"s")
    for packet in (key, delta, delta, tone, key):
        feed.packet(packet)
    outlet.room = 2
    feed.packet(key)
    assert outlet.sent == [key, delta]
    feed.packet(VIDEO_HEADER)
    outlet.room = 9
    for packet in (delta, tone, key, delta):
        feed.packet(packet)
    assert outlet.sent == [key, delta, VIDEO_HEADER, key, delta]
    assert (feed.take_dropped(), feed.take_dropped()) == (6, 0)


def test_audio_continues_where_the_sink_is_to_have_it_while_frames_are_dropped() -> None:
    outlet = Narrow(2, audio_continues=True)
    feed = PacketFeed(outlet)
    key, delta, tone = picture(0, b"k", key=True), picture(1, b"d"), sound(1, b"s")
    for packet in (key, delta, delta, tone, key, tone):
        feed.packet(packet)
    assert outlet.sent == [key, delta, tone, tone]
    outlet.room = 9
    for packet in (delta, tone, key, delta):
        feed.packet(packet)
    assert outlet.sent == [key, delta, tone, tone, tone, key, delta]
    assert feed.take_dropped() == 3, "frames alone"


def test_a_session_that_is_worn_out_ends_before_a_key_frame() -> None:
    outlet = Narrow(9)
    feed = PacketFeed(outlet)
    key, delta = picture(0, b"k", key=True), picture(1, b"d")
    feed.packet(key)
    outlet.worn_out = True
    feed.packet(delta)
    assert not feed.outgrown
    feed.packet(key)
    feed.packet(delta)
    assert feed.outgrown
    assert outlet.sent == [key, delta]


def test_a_session_begins_with_a_key_frame_and_with_audio_before_it() -> None:
    """The last one may have been too long ago to be handed over."""
    outlet = Narrow(9)
    feed = PacketFeed(outlet)
    key, delta, tone = picture(0, b"k", key=True), picture(1, b"d"), sound(1, b"s")
    for packet in (VIDEO_HEADER, delta, tone, delta, key, delta):
        feed.packet(packet)
    assert outlet.sent == [VIDEO_HEADER, tone, key, delta]
    assert feed.take_dropped() == 0, "nobody was slow"
