"""Pieces of a room's delivery: forms of the media, the clock, messages, words."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from pydantic import SecretStr

from onair_crds.contract.program import ProgramRtc
from onair_encoder.media import amf
from onair_encoder.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_encoder.publish.rtc import pipe
from onair_encoder.publish.rtc.clock import HOLD_US, ProgramClock, Steps
from onair_encoder.publish.rtc.livekit_errors import connect_failed, disconnected
from onair_encoder.publish.rtc.media import Shape, access_unit, parameter_sets, shape_of
from onair_encoder.publish.rtc.output import HELD_S, MAX_UNSENT_BYTES, PipeFeed
from onair_encoder.publish.rtc.video_flow import PictureFlow, Rejoining

SPS, PPS = b"\x67\x64\x00\x1e", b"\x68\xee"
HEADER = Packet(
    VIDEO,
    0,
    b"\x17\0\0\0\0\x01\x64\x00\x1e\xff\xe1"
    + len(SPS).to_bytes(2, "big")
    + SPS
    + b"\x01"
    + len(PPS).to_bytes(2, "big")
    + PPS,
)


def frame(*units: bytes, keyframe: bool = False, at_ms: int = 0) -> Packet:
    body = b"".join(len(unit).to_bytes(4, "big") + unit for unit in units)
    return Packet(VIDEO, at_ms, (b"\x17" if keyframe else b"\x27") + b"\x01\0\0\0" + body)


def test_a_key_frame_has_its_parameter_sets_before_it() -> None:
    sets = parameter_sets(HEADER)
    assert sets == b"\0\0\0\1" + SPS + b"\0\0\0\1" + PPS
    assert access_unit(frame(b"\x65key", keyframe=True), sets) == sets + b"\0\0\0\1\x65key"
    assert access_unit(frame(b"\x41one", b"\x41two"), sets) == b"\0\0\0\1\x41one\0\0\0\1\x41two"


def test_filler_and_delimiters_stay_out() -> None:
    assert access_unit(frame(b"\x09\xf0", b"\x41x", b"\x0c\xff\xff"), b"") == b"\0\0\0\1\x41x"


@pytest.mark.parametrize("size", [6, 9, 14, 17])
def test_a_header_that_is_cut_short_is_an_error(size: int) -> None:
    with pytest.raises(ValueError, match="cut short"):
        parameter_sets(Packet(VIDEO, 0, HEADER.body[:size]))


def test_the_shape_is_what_the_stream_says() -> None:
    said = {"width": 1280.0, "height": 720.0, "framerate": 25.0, "videodatarate": 2000.0}
    script = Packet(SCRIPT, 0, amf.encode("onMetaData", said))
    assert shape_of(script) == Shape(1280, 720, 25.0, 2_048_000)
    assert shape_of(Packet(SCRIPT, 0, amf.encode("onMetaData", {"duration": 0.0}))) is None
    assert shape_of(Packet(SCRIPT, 0, b"\x02\xff")) is None


def test_the_clock_follows_the_least_late_packet_gently() -> None:
    clock = ProgramClock()
    start_us = 50_000_000
    lateness = [
        clock.arrived(ms, start_us + ms * 1000 + late) for ms, late in ((0, 9000), (20, 0), (40, 5000))
    ]
    assert lateness[0] == 0
    assert clock.due_us(1000, 0) == pytest.approx(start_us + 1_000_000 + HOLD_US, abs=9000)
    for ms in range(60, 600, 20):
        clock.arrived(ms, start_us + ms * 1000)
    assert clock.due_us(1000, 0) == start_us + 1_000_000 + HOLD_US


def test_the_clock_leaps_where_the_programme_does() -> None:
    clock = ProgramClock()
    clock.arrived(0, 1_000_000)
    clock.arrived(10_000, 2_000_000)
    assert clock.due_us(10_000, 0) == 2_000_000 + HOLD_US


def test_chunks_of_sound_come_in_even_steps() -> None:
    steps = Steps(10_000)
    wanted = [1_000_000 + n * 10_000 + (5000 if n % 2 else 0) for n in range(40)]
    times = [steps.next_us(each) for each in wanted]
    assert all(9_500 < after - before < 10_500 for before, after in pairwise(times))
    assert steps.next_us(9_000_000) == 9_000_000


async def test_what_the_agent_writes_the_process_reads() -> None:
    rtc = ProgramRtc(
        provider="livekit", url="wss://rooms.example", token=SecretStr("t"), room="r", identity="i"
    )
    packets = [HEADER, frame(b"\x41x", at_ms=2**33), Packet(AUDIO, 7, b"\xaf\x01abc")]
    reader = asyncio.StreamReader()
    reader.feed_data(pipe.settings_message(rtc) + b"".join(map(pipe.packet_message, packets)) + b"\x09cut")
    reader.feed_eof()
    assert await pipe.read_settings(reader) == rtc
    assert [packet async for packet in pipe.read_packets(reader)] == packets


@pytest.mark.parametrize(
    "message", [pipe.Joined(), pipe.Progress(1, 2, 3, 4.5), pipe.Gone("why", permanent=True)]
)
def test_messages_come_back_as_they_were(message: pipe.Message) -> None:
    assert pipe.message_of(pipe.line_of(message)) == message


@pytest.mark.parametrize("line", [b"", b"{}", b"[1]", b'{"kind": "Gone"}', b'{"kind": "Joined", "x": 1}'])
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        pipe.message_of(line)


class SlowProcess:
    def __init__(self) -> None:
        self.unsent = 0
        self.taken: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.taken.append(data)


def test_a_session_begins_with_the_newest_key_frame_and_goes_on_with_the_next() -> None:
    process: Any = SlowProcess()
    feed = PipeFeed(process)
    key, next_key = frame(b"\x65a", keyframe=True), frame(b"\x65b", keyframe=True, at_ms=1000)
    late_sound = Packet(AUDIO, 1, b"\xaf\x01a")
    feed.begin([HEADER, key, late_sound, frame(b"\x41x")])
    feed.packet(frame(b"\x41y"))
    feed.packet(next_key)
    feed.packet(frame(b"\x41z"))
    wanted = [HEADER, key, next_key, frame(b"\x41z")]
    assert process.taken == [pipe.packet_message(packet) for packet in wanted]
    assert feed.take_dropped() == 0


def test_a_slow_process_is_given_nothing_up_to_a_key_frame() -> None:
    process: Any = SlowProcess()
    feed = PipeFeed(process)
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


URL = "wss://rooms.example"


@pytest.mark.parametrize(
    ("said", "words", "permanent"),
    [
        (
            "client error: 401 Unauthorized - invalid token: eyJhbGci.eyJpc3.5cb, error in primitive",
            "rooms.example:443: the room token was refused; the installation names another API secret",
            True,
        ),
        ("401 - validation failed, token is expired (exp)", "the room token has expired", True),
        ("401 Unauthorized - invalid API key: nokey", "the provider does not know the API key", True),
        ("handshake error: 500 Internal Server Error", "(500); the room may be full", False),
        (
            "IO error: Connection refused (os error 111)",
            "connection refused by rooms.example:443",
            False,
        ),
        ("IO error: failed to lookup address information", "rooms.example: name not found", False),
        ("received corrupt message of type InvalidContentType", "rooms.example:443: TLS failed", False),
        ("signal failure: transport timed out", "no answer from rooms.example:443", False),
        ("something new eyJhbGci", "rooms.example:443: the room could not be joined", False),
    ],
)
def test_errors_of_joining_are_words_without_the_token(said: str, words: str, permanent: bool) -> None:
    lost = connect_failed(said, URL)
    assert words in str(lost)
    assert lost.permanent is permanent
    assert "eyJ" not in str(lost)


def test_ends_are_words() -> None:
    taken = disconnected("DUPLICATE_IDENTITY", URL, "programme")
    assert (str(taken), taken.permanent) == (
        "rooms.example:443: somebody else has joined the room as programme",
        True,
    )
    assert str(disconnected("SERVER_SHUTDOWN", URL, "x")) == "rooms.example:443: the server is shutting down"
    assert str(disconnected("NEVER_SEEN", URL, "x")) == "rooms.example:443: the session ended"


def held(*looks: tuple[float, int, int]) -> list[float]:
    """For how long the picture is held back, at each look: time, pictures that were due, pictures sent."""
    flow = PictureFlow()
    return [flow.look(*look) for look in looks]


def test_a_picture_is_held_back_when_none_leaves_though_some_are_due() -> None:
    assert held((0, 0, 0), (1, 30, 30), (2, 60, 32), (3, 90, 32), (4, 120, 32)) == [0, 0, 0, 1, 2]


def test_no_picture_is_missed_where_none_is_due() -> None:
    assert held((0, 9, 9), (1, 9, 9), (2, 9, 9), (9, 9, 9)) == [0] * 4


def test_a_moment_without_pictures_is_no_narrow_line() -> None:
    assert held((0, 0, 0), (1, 30, 30), (1.9, 57, 30), (2.5, 75, 48), (3.5, 105, 78)) == [0] * 5


def test_a_picture_that_is_published_anew_is_told_from_a_narrow_line() -> None:
    """Within three seconds it flows again; one more shows it."""
    looks = [(0.0, 0, 0)]
    looks += [(at / 4, at * 7, min(at, 12) * 7 + max(0, at - 24) * 7) for at in range(1, 40)]
    found = held(*looks)
    assert 2 < max(found) < HELD_S
    assert found[28:] == [0] * 12


def test_single_pictures_are_no_flow() -> None:
    trickle = [(second, 30 * second, second) for second in range(6)]
    flowing = [(second, 30 * second, 30 * second - 145) for second in range(6, 10)]
    assert held(*trickle, *flowing) == [0, 0, 1, 2, 3, 4, 0, 0, 0, 0]


def test_half_of_the_pictures_is_neither_flow_nor_an_end_of_it() -> None:
    assert held((0, 0, 0), (1, 30, 18), (2, 60, 36), (3, 90, 54)) == [0] * 4
    assert held((0, 0, 0), (2, 60, 3), (3, 90, 25), (4, 120, 48), (5, 150, 70)) == [0, 1, 2, 3, 4]


def test_pictures_on_their_way_are_not_given_up() -> None:
    flow = PictureFlow()
    found = []
    for second, (due, sent) in enumerate([(5, 0), (25, 20), (80, 20), (112, 50), (172, 110)]):
        flow.look(second, due, sent)
        found.append(flow.left_out)
    assert found == [0, 0, 60, 60, 60]


def test_a_session_with_a_picture_held_back_begins_anew_less_and_less_often() -> None:
    rejoining = Rejoining()
    now, rests = 0.0, []
    for _ in range(5):
        held_s = 0.0
        while not rejoining.due(now, held_s):
            now, held_s = now + 1, held_s + 1
        rests.append(held_s)
    assert rests == [15, 30, 60, 120, 120]


def test_a_picture_that_flowed_for_long_is_freed_soon_again() -> None:
    rejoining = Rejoining()
    assert [rejoining.due(at, at) for at in (14.0, 15.0)] == [False, True]
    assert not rejoining.due(16, 0)
    assert [rejoining.due(100 + at, at) for at in (15.0, 29.0)] == [False, False]
    assert not rejoining.due(250, 0)
    assert [rejoining.due(300 + at, at) for at in (14.0, 15.0)] == [False, True]
