"""MPEG-TS can be unpacked again, and its clocks never go back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.support.media.packets import AUDIO_HEADER, PPS, SPS, VIDEO_HEADER, frame, picture, sound

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_crds.media.mpeg_ts import CELL, TransportStream
from onair_crds.rtmp import amf

VIDEO_PID, AUDIO_PID = 0x100, 0x101


def read(stream: bytes) -> tuple[dict[int, list[bytes]], list[int]]:
    """PES packets by PID, and all clock references of 27 MHz; counters and lengths are checked on the way."""
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
                field = int.from_bytes(body[2:8], "big")
                assert field & 0x1FF < 300
                clocks.append((field >> 15) * 300 + (field & 0x1FF))
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
def test_what_is_packed_can_be_unpacked(pictures: list[int], sounds: list[int]) -> None:
    ts = TransportStream()
    out = ts.pack(VIDEO_HEADER) + ts.pack(AUDIO_HEADER)
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
    assert (
        ts.pack(VIDEO_HEADER) + ts.pack(AUDIO_HEADER) + ts.pack(sound(0, b"s")) + ts.pack(picture(0, b"p"))
        == b""
    )
    out = b"".join(ts.pack(picture(t, b"p", key=t % 80 == 0)) for t in range(80, 320, 40))
    units, _ = read(out)
    assert len(units[0]) == len(units[0x1000]) == 3
    end_of_sequence = Packet(VIDEO, 400, b"\x17\x02\0\0\0")
    assert ts.pack(end_of_sequence) == b""


def test_times_never_go_back_and_wrap_where_the_field_ends() -> None:
    ts = TransportStream()
    ts.pack(VIDEO_HEADER)
    last_ms = (1 << 33) // 90
    out = b"".join(
        ts.pack(picture(t, b"p", key=True)) for t in (last_ms - 1040, last_ms - 1080, last_ms - 960)
    )
    first, second, third = (stamp(unit[9:14]) for unit in read(out)[0][VIDEO_PID])
    assert second == first + 1
    assert third < first


def test_the_clock_goes_on_while_there_is_no_video() -> None:
    ts = TransportStream()
    out = ts.pack(VIDEO_HEADER) + ts.pack(AUDIO_HEADER) + ts.pack(picture(0, b"p", key=True))
    out += b"".join(ts.pack(sound(t, b"s")) for t in range(0, 500, 20))
    clocks = read(out)[1]
    assert len(clocks) == 7
    assert all(b - a <= 100 * 27_000 for a, b in pairwise(clocks))


def test_the_clock_has_no_jitter_though_timestamps_are_rounded() -> None:
    metadata = amf.encode("onMetaData", {"width": 320, "height": 180, "framerate": 29.97})
    ts = TransportStream()
    out = ts.pack(Packet(SCRIPT, 0, metadata)) + ts.pack(VIDEO_HEADER) + ts.pack(AUDIO_HEADER)
    out += b"".join(ts.pack(picture(round(n * 1001 / 30), b"p", key=n % 30 == 0)) for n in range(600))
    clocks = read(out)[1]
    assert {b - a for a, b in pairwise(clocks)} == {900_900}, "1001 ms over 30, exactly"


def test_tables_come_at_least_every_400_ms_though_key_frames_are_rare() -> None:
    ts = TransportStream()
    ts.pack(VIDEO_HEADER)
    ts.pack(AUDIO_HEADER)
    told_ms = []
    for at_ms in range(0, 10_000, 20):
        out = (
            ts.pack(picture(at_ms, b"p", key=at_ms == 0)) if at_ms % 40 == 0 else ts.pack(sound(at_ms, b"s"))
        )
        units = read(out)[0]
        if 0 in units:
            assert 0x1000 in units
            told_ms.append(at_ms)
    assert all(b - a <= 400 for a, b in pairwise([*told_ms, 10_000]))


def test_filler_is_dropped_where_a_constant_bitrate_is_of_no_use() -> None:
    packed = {}
    for filler in (True, False):
        ts = TransportStream(filler=filler)
        ts.pack(VIDEO_HEADER)
        packed[filler] = ts.pack(frame(b"\x65picture", b"\x0c" + b"\xff" * 9000, b"\x0c\xff", keyframe=True))
    assert len(packed[True]) - len(packed[False]) >= 9000
    unit = read(packed[False])[0][VIDEO_PID][0]
    assert unit.endswith(b"\0\0\0\1\x65picture")


def test_audio_that_is_more_than_lc_is_told_by_its_core_and_what_adts_cannot_say_is_left_out() -> None:
    def audio(specific: bytes) -> list[bytes]:
        stream = TransportStream()
        stream.pack(VIDEO_HEADER)
        stream.pack(Packet(AUDIO, 0, b"\xaf\0" + specific))
        packed = stream.pack(picture(0, b"slice", key=True)) + stream.pack(sound(20, b"sound"))
        return read(packed)[0].get(AUDIO_PID, [])

    with_sbr = (5 << 11 | 6 << 7 | 2 << 3).to_bytes(2, "big")  # 24 kHz, heard as 48 kHz
    ((*_, head),) = [(None, each[each.index(b"\xff\xf1") :]) for each in audio(with_sbr)]
    assert (head[2] >> 6, head[2] >> 2 & 0xF) == (1, 6)
    for strange in (b"\xff\xff", b"\0\0", (2 << 11 | 15 << 7 | 2 << 3).to_bytes(2, "big"), b""):
        assert not audio(strange)


def test_only_what_comes_is_announced_and_the_clock_goes_with_it() -> None:
    announced = {}
    for types in ((VIDEO, AUDIO), (VIDEO,), (AUDIO,)):
        stream = TransportStream(types=types)
        out = stream.pack(VIDEO_HEADER) + stream.pack(AUDIO_HEADER)
        stream.begin()
        out += stream.pack(picture(0, b"p", key=True)) if VIDEO in types else b""
        out += b"".join(stream.pack(sound(at_ms, b"s")) for at_ms in range(20, 500, 20) if AUDIO in types)
        units, clocks = read(out)
        table = units[0x1000][0]
        length = int.from_bytes(table[2:4], "big") & 0xFFF
        streams = table[13 : 4 + length - 4]
        announced[types] = [
            int.from_bytes(streams[at + 1 : at + 3], "big") & 0x1FFF for at in range(0, len(streams), 5)
        ]
        assert int.from_bytes(table[9:11], "big") & 0x1FFF == announced[types][0]
        assert all(b - a <= 100 * 27_000 for a, b in pairwise(clocks))
        assert len(clocks) >= (6 if AUDIO in types else 1)
    assert announced == {
        (VIDEO, AUDIO): [VIDEO_PID, AUDIO_PID],
        (VIDEO,): [VIDEO_PID],
        (AUDIO,): [AUDIO_PID],
    }
