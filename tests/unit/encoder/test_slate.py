"""The slate goes on air when there is no picture, goes when there is one, and time never goes back."""

from __future__ import annotations

import asyncio
from itertools import islice, pairwise

import pytest

from onair_crds.contract.program import Program, ProgramAudio, ProgramVideo
from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_encoder.media.slate import Slate, gop_frames, slate_command
from onair_encoder.media.switch import PATIENCE_S, Switch

KEY, DELTA = b"\x17\x01\0\0\0key", b"\x27\x01\0\0\0delta"
AVC_HEADER, AAC_HEADER, SOUND = b"\x17\x00\0\0\0avcc", b"\xaf\x00\x11\x90", b"\xaf\x01sound"
SLATE_KEY = KEY + b" of the slate"
SIZE = ProgramVideo(width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=90)
PROGRAM = Program(project="p", broadcast="b", epoch=1, composition_url="http://a.example/", video=SIZE)


class Collector:
    def __init__(self) -> None:
        self.packets: list[Packet] = []

    def packet(self, packet: Packet) -> None:
        self.packets.append(packet)

    def media(self, type_: int = VIDEO) -> list[Packet]:
        return [p for p in self.packets if p.type == type_ and not p.header]


class Room:
    """A switch with a clock of ours and a slate at hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.out = Collector()
        fan_out = FanOut()
        fan_out.subscribe(self.out)
        self.switch = Switch(fan_out, lambda: self.now)
        headers = [Packet(VIDEO, 0, AVC_HEADER), Packet(AUDIO, 0, AAC_HEADER)]
        media = [Packet(VIDEO, 0, SLATE_KEY), Packet(AUDIO, 0, SOUND)]
        slate = Slate(headers + media, SIZE, ProgramAudio())

        async def at_once(program: Program) -> Slate:
            return slate

        monkeypatch.setattr(Slate, "encode", at_once)
        monkeypatch.setattr("time.monotonic", lambda: self.now)
        self.live_ms = 0

    async def passes(self, seconds: float, *, filmed: bool, page: bool) -> None:
        for _ in range(round(seconds * 30)):
            self.now += 1 / 30
            self.live_ms += 33
            if filmed:
                self.switch.live(Packet(VIDEO, self.live_ms, KEY if self.live_ms % 990 == 0 else DELTA))
                self.switch.live(Packet(AUDIO, self.live_ms - 20, SOUND))
            self.switch.look(page_shown=page)
            await asyncio.sleep(0)

    def begin(self) -> None:
        self.switch.live_begins()
        for header in (Packet(VIDEO, 0, AVC_HEADER), Packet(AUDIO, 0, AAC_HEADER), Packet(VIDEO, 0, KEY)):
            self.switch.live(header)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Room:
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        """Time passes when the test says so."""
        end = room.now + seconds
        while room.now < end:
            await real(0)
        await real(0)

    room = Room(monkeypatch)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    return room


def assert_times_grow(room: Room) -> None:
    for type_ in (VIDEO, AUDIO):
        times = [p.timestamp_ms for p in room.out.media(type_)]
        assert all(a < b for a, b in pairwise(times)), times


def run(story: object) -> None:
    asyncio.run(story)  # type: ignore[arg-type]


def test_a_page_that_does_not_come_is_covered_until_it_does(room: Room) -> None:
    async def story() -> None:
        room.switch.want(PROGRAM)
        room.begin()
        await room.passes(PATIENCE_S + 0.5, filmed=True, page=False)
        assert room.switch.on_slate
        await room.passes(2, filmed=True, page=False)
        slates = len([p for p in room.out.media() if p.body == SLATE_KEY])
        assert 45 <= slates <= 75, "the slate runs at the programme's rate"
        room.out.packets.clear()
        await room.passes(1.2, filmed=True, page=True)
        assert not room.switch.on_slate
        bodies = [p.body for p in room.out.media()]
        first = bodies.index(KEY)
        assert SLATE_KEY not in bodies[first:], "live goes on from a key frame, and alone"
        assert DELTA not in bodies[:first]
        assert room.out.media()[-1].timestamp_ms == pytest.approx(4700, abs=300), "time is the wall's"
        await room.switch.close()

    run(story())
    assert_times_grow(room)


def test_silence_of_the_camera_is_covered_and_a_short_one_is_not(room: Room) -> None:
    async def story() -> None:
        room.switch.want(PROGRAM)
        room.begin()
        await room.passes(2, filmed=True, page=True)
        await room.passes(PATIENCE_S - 0.2, filmed=False, page=True)
        await room.passes(1, filmed=True, page=True)
        assert room.switch.slates == 0
        await room.passes(PATIENCE_S + 1, filmed=False, page=True)
        assert room.switch.on_slate
        room.live_ms = 0
        room.begin()
        await room.passes(0.5, filmed=True, page=True)
        assert not room.switch.on_slate
        assert room.switch.slates == 1
        await room.switch.close()

    run(story())
    assert_times_grow(room)
    assert room.out.packets[-1].timestamp_ms > 5500


def test_the_slate_has_the_options_of_the_programme() -> None:
    command = slate_command(PROGRAM)
    assert command[command.index("-b:v") + 1] == "600000"
    assert "s=640x360" in " ".join(command)
    assert gop_frames(SIZE) == 60, "two seconds at most"
    assert gop_frames(SIZE.model_copy(update={"keyframe_interval_frames": 30})) == 30


def test_a_real_slate_has_key_frames_sound_and_the_programmes_headers() -> None:
    slate = asyncio.run(Slate.encode(PROGRAM))
    assert slate
    assert {p.type for p in slate.headers} == {SCRIPT, VIDEO, AUDIO}
    packets = list(islice(slate.packets(), 400))
    assert packets[0].keyframe
    assert sum(p.keyframe for p in packets) >= 2
    for type_ in (VIDEO, AUDIO):
        times = [p.timestamp_ms for p in packets if p.type == type_]
        assert all(a < b for a, b in pairwise(times))
    assert {round(b - a) for a, b in pairwise(p.timestamp_ms for p in packets if p.type == VIDEO)} == {33, 34}
