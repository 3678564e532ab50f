"""MPEG-TS, SRT addresses, refusals in words, what a feed leaves out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_encoder.media.flv import AUDIO, VIDEO, Packet
from onair_encoder.publish.feed import Feed
from onair_encoder.publish.mpeg_ts import CELL, TransportStream
from onair_encoder.publish.session_error import SessionError
from onair_encoder.publish.srt.address import SrtAddress, checked_passphrase
from onair_encoder.publish.srt.refusals import refusal

SPS, PPS = b"\x67sps", b"\x68pps"
AVC = Packet(VIDEO, 0, b"\x17\0\0\0\0\x01\x42\xc0\x1e\xff\xe1\0\x04" + SPS + b"\x01\0\x04" + PPS)
AAC = Packet(AUDIO, 0, b"\xaf\0\x11\x90")
VIDEO_PID, AUDIO_PID = 0x100, 0x101


def picture(time_ms: int, data: bytes, *, key: bool = False) -> Packet:
    unit = (b"\x65" if key else b"\x41") + data
    return Packet(
        VIDEO, time_ms, (b"\x17" if key else b"\x27") + b"\x01\0\0\0" + len(unit).to_bytes(4, "big") + unit
    )


def sound(time_ms: int, data: bytes) -> Packet:
    return Packet(AUDIO, time_ms, b"\xaf\x01" + data)


def read(stream: bytes) -> tuple[dict[int, list[bytes]], list[int]]:
    """PES packets by PID, and all clock references; counters and lengths are checked on the way."""
    assert len(stream) % CELL == 0
    units: dict[int, list[bytes]] = {}
    counters: dict[int, int] = {}
    clocks = []
    for at in range(0, len(stream), CELL):
        cell = stream[at : at + CELL]
        assert cell[0] == 0x47
        pid, control, counter = int.from_bytes(cell[1:3], "big") & 0x1FFF, cell[3] >> 4 & 3, cell[3] & 0xF
        body = cell[4:]
        if control & 2:
            if body[0] and body[1] & 0x10:
                clocks.append(int.from_bytes(body[2:8], "big") >> 15)
            body = body[1 + body[0] :]
        if not control & 1:
            continue
        assert counter == (counters.get(pid, counter - 1 & 0xF) + 1) & 0xF
        counters[pid] = counter
        if cell[1] & 0x40:
            units.setdefault(pid, []).append(b"")
        units[pid][-1] += body
    return units, clocks


def stamp(field: bytes) -> int:
    return (field[0] >> 1 & 7) << 30 | (field[1] << 7 | field[2] >> 1) << 15 | (field[3] << 7 | field[4] >> 1)


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=6), st.lists(st.integers(1, 900), max_size=6))
def test_what_is_packed_can_be_read_back(pictures: list[int], sounds: list[int]) -> None:
    ts = TransportStream()
    out = ts.pack(AVC) + ts.pack(AAC)
    for number, size in enumerate(pictures):
        out += ts.pack(picture(number * 40, b"p" * size, key=number == 0))
    for number, size in enumerate(sounds):
        out += ts.pack(sound(number * 21, b"s" * size))
    units, clocks = read(out)
    delimiter, start = b"\0\0\0\1\x09\xf0", b"\0\0\0\1"
    expected = [
        delimiter
        + (start + SPS + start + PPS if n == 0 else b"")
        + start
        + (b"\x41" if n else b"\x65")
        + b"p" * s
        for n, s in enumerate(pictures)
    ]
    assert [unit[14:] for unit in units[VIDEO_PID]] == expected
    assert [unit[21:] for unit in units.get(AUDIO_PID, [])] == [b"s" * size for size in sounds]
    assert [stamp(unit[9:14]) // 90 for unit in units[VIDEO_PID]] == [
        1000 + n * 40 for n in range(len(pictures))
    ]
    assert clocks == sorted(clocks)


def test_nothing_goes_out_before_a_key_frame_and_tables_go_with_each() -> None:
    ts = TransportStream()
    assert ts.pack(AVC) + ts.pack(AAC) + ts.pack(sound(0, b"s")) + ts.pack(picture(0, b"p")) == b""
    out = b"".join(ts.pack(picture(t, b"p", key=t % 80 == 0)) for t in range(80, 320, 40))
    units, _ = read(out)
    assert len(units[0]) == len(units[0x1000]) == 3
    end_of_sequence = Packet(VIDEO, 400, b"\x17\x02\0\0\0")
    assert ts.pack(end_of_sequence) == b""


def test_times_never_go_back_and_wrap_where_the_field_ends() -> None:
    ts = TransportStream()
    ts.pack(AVC)
    last_ms = (1 << 33) // 90
    out = b"".join(
        ts.pack(picture(t, b"p", key=True)) for t in (last_ms - 1040, last_ms - 1080, last_ms - 960)
    )
    first, second, third = (stamp(unit[9:14]) for unit in read(out)[0][VIDEO_PID])
    assert second == first + 1
    assert third < first


def test_the_clock_goes_on_while_there_are_no_pictures() -> None:
    ts = TransportStream()
    out = ts.pack(AVC) + ts.pack(AAC) + ts.pack(picture(0, b"p", key=True))
    out += b"".join(ts.pack(sound(t, b"s")) for t in range(0, 500, 20))
    clocks = read(out)[1]
    assert len(clocks) == 7
    assert all(b - a <= 100 * 90 for a, b in pairwise(clocks))


@pytest.mark.parametrize(
    ("url", "key", "expected"),
    [
        ("srt://a.example:9000", None, ("a.example:9000", "", 120, 16)),
        ("srt://a.example:9000", "k", ("a.example:9000", "k", 120, 16)),
        ("srt://a.example:9000?streamid=s&latency=400", "k", ("a.example:9000", "s", 400, 16)),
        ("srt://a.example:9000/?StreamId=a%2Fb+c&pbkeylen=32&mode=caller&tlpktdrop=1", None,
         ("a.example:9000", "a/b+c", 120, 32)),
        ("srt://a.example:9000?streamid=#!::r=live/k,m=publish", None,
         ("a.example:9000", "#!::r=live/k,m=publish", 120, 16)),
        ("srt://[2001:db8::1]:9000", None, ("[2001:db8::1]:9000", "", 120, 16)),
    ],
)  # fmt: skip
def test_addresses(url: str, key: str | None, expected: tuple[str, str, int, int]) -> None:
    address = SrtAddress.of(url, key)
    assert (address.server, address.stream_id, address.latency_ms, address.key_bytes) == expected


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("srt://:9000", "no server"),
        ("srt://a.example", "no port"),
        ("srt://a.example:99999", "not a number"),
        ("srt://a.example:9000?mode=listener", "mode other than caller"),
        ("srt://a.example:9000?latency=soon", "latency"),
        ("srt://a.example:9000?latency=30001", "latency"),
        ("srt://a.example:9000?pbkeylen=8", "pbkeylen"),
        ("srt://a.example:9000?passphrase=0123456789", "belongs into a Secret"),
        (f"srt://a.example:9000?streamid={'x' * 513}", "longer than 512"),
    ],
)
def test_unusable_addresses_say_why(url: str, words: str) -> None:
    with pytest.raises(SessionError, match=words) as lost:
        SrtAddress.of(url, None)
    assert lost.value.permanent
    assert "0123456789" not in str(lost.value)


def test_a_stream_id_and_a_passphrase_are_in_no_text() -> None:
    assert "s3cret" not in repr(SrtAddress.of("srt://a.example:1?streamid=s3cret", None))
    with pytest.raises(SessionError) as lost:
        checked_passphrase("s3cret")
    assert "s3cret" not in str(lost.value)


@pytest.mark.parametrize(
    ("error", "reason", "words", "permanent"),
    [
        (1001, 16, "no answer from a:1", False),
        (1001, 0, "no answer from a:1", False),
        (1002, 10, "a:1: the server refuses the passphrase, or expects none", True),
        (1002, 1401, "a:1: the server refuses the credentials in the stream id", True),
        (1002, 1409, "a:1: the stream id is in use", False),
        (1002, 2, "a:1: the server refused without a reason", False),
        (1002, 2222, "a:1: the server refused, reason 2222", False),
        (1002, 6, "a:1: no session could be had (SRT error 1002, reason 6)", False),
    ],
)
def test_refusals_are_told_in_words(error: int, reason: int, words: str, permanent: bool) -> None:
    lost = refusal("a:1", error, reason)
    assert str(lost).startswith(words)
    assert lost.permanent is permanent


class Narrow:
    """An outlet with room for so many packets."""

    over = False

    def __init__(self, room: int) -> None:
        self.room = room
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


def test_where_there_is_no_room_pictures_are_left_out_up_to_a_key_frame() -> None:
    outlet = Narrow(2)
    feed = Feed(outlet)
    key, delta, tone = picture(0, b"k", key=True), picture(1, b"d"), sound(1, b"s")
    for packet in (key, delta, delta, tone, key):
        feed.packet(packet)
    outlet.room = 2
    feed.packet(key)
    assert outlet.sent == [key, delta]
    feed.packet(AVC)
    outlet.room = 9
    for packet in (delta, tone, key, delta):
        feed.packet(packet)
    assert outlet.sent == [key, delta, AVC, key, delta]
    assert (feed.take_dropped(), feed.take_dropped()) == (6, 0)
