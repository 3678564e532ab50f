"""The slate goes on air while there is no video, goes when there is, and time never goes back."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from tests.support.media.packets import AAC_HEADER, AVC_HEADER, DELTA, KEY, SOUND, Collector

from onair_crds.contract.program import Program, ProgramAudio, ProgramVideo
from onair_crds.media.flv import AUDIO, VIDEO, Packet
from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.slate import Slate
from onair_encoder.media.slate_switch import GAP_TIMEOUT_S, KEY_FRAME_TIMEOUT_S, Switch

SLATE_KEY = KEY + b" of the slate"
SIZE = ProgramVideo(width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=90)
PROGRAM = Program(project="p", broadcast="b", epoch=1, composition_url="http://a.example/", video=SIZE)


class Studio:
    """A switch with a clock of ours and a slate at hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.slate_header = AVC_HEADER
        self.now = 100.0
        self.out = Collector()
        fan_out = FanOut()
        fan_out.subscribe(self.out)
        self.switch = Switch(fan_out, lambda: self.now)
        media = [Packet(VIDEO, 0, SLATE_KEY), Packet(AUDIO, 0, SOUND)]

        async def at_once(program: Program) -> Slate:
            headers = [Packet(VIDEO, 0, self.slate_header), Packet(AUDIO, 0, AAC_HEADER)]
            return Slate(headers + media, SIZE, ProgramAudio())

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
            self.switch.check(page_shown=page)
            await asyncio.sleep(0)

    def begin(self) -> None:
        self.switch.live_begins()
        for header in (Packet(VIDEO, 0, AVC_HEADER), Packet(AUDIO, 0, AAC_HEADER), Packet(VIDEO, 0, KEY)):
            self.switch.live(header)


@pytest.fixture
def studio(monkeypatch: pytest.MonkeyPatch) -> Studio:
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        """Time passes when the test says so."""
        end = made.now + seconds
        while made.now < end:
            await real(0)
        await real(0)

    made = Studio(monkeypatch)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    return made


def assert_times_grow(studio: Studio) -> None:
    for type_ in (VIDEO, AUDIO):
        times = [p.timestamp_ms for p in studio.out.media(type_)]
        assert all(a < b for a, b in pairwise(times)), times


def run(story: object) -> None:
    asyncio.run(story)  # type: ignore[arg-type]


def test_a_page_that_does_not_load_is_covered_until_it_does(studio: Studio) -> None:
    async def story() -> None:
        studio.switch.want(PROGRAM)
        studio.begin()
        await studio.passes(GAP_TIMEOUT_S + 0.5, filmed=True, page=False)
        assert studio.switch.on_slate
        await studio.passes(2, filmed=True, page=False)
        slates = len([p for p in studio.out.media() if p.body == SLATE_KEY])
        assert 45 <= slates <= 75, "the slate runs at the programme's rate"
        studio.out.packets.clear()
        await studio.passes(1.2, filmed=True, page=True)
        assert not studio.switch.on_slate
        bodies = [p.body for p in studio.out.media()]
        first = bodies.index(KEY)
        assert SLATE_KEY not in bodies[first:], "live goes on from a key frame, and alone"
        assert DELTA not in bodies[:first]
        assert studio.out.media()[-1].timestamp_ms == pytest.approx(4700, abs=300), "time is the wall's"
        await studio.switch.close()

    run(story())
    assert_times_grow(studio)


def test_a_gap_of_the_encode_is_covered_and_a_short_one_is_not(studio: Studio) -> None:
    async def story() -> None:
        studio.switch.want(PROGRAM)
        studio.begin()
        await studio.passes(2, filmed=True, page=True)
        await studio.passes(GAP_TIMEOUT_S - 0.2, filmed=False, page=True)
        await studio.passes(1, filmed=True, page=True)
        assert studio.switch.slates == 0
        await studio.passes(GAP_TIMEOUT_S + 1, filmed=False, page=True)
        assert studio.switch.on_slate
        studio.live_ms = 0
        studio.begin()
        await studio.passes(0.5, filmed=True, page=True)
        assert not studio.switch.on_slate
        assert studio.switch.slates == 1
        await studio.switch.close()

    run(story())
    assert_times_grow(studio)
    assert studio.out.packets[-1].timestamp_ms > 5500


@pytest.mark.parametrize("slate_header", [AVC_HEADER, AVC_HEADER + b" of the slate"])
def test_live_frames_follow_their_own_header_also_where_it_came_before_the_slate(
    studio: Studio, slate_header: bytes
) -> None:
    studio.slate_header = slate_header

    async def story() -> None:
        studio.switch.want(PROGRAM)
        studio.begin()
        await studio.passes(2, filmed=True, page=True)
        await studio.passes(GAP_TIMEOUT_S + 1, filmed=True, page=False)
        assert studio.switch.on_slate
        await studio.passes(1.2, filmed=True, page=True)
        assert not studio.switch.on_slate
        await studio.switch.close()

    run(story())
    in_force: dict[bytes, set[bytes]] = {}
    for packet in studio.out.packets:
        if packet.type == VIDEO and packet.header:
            header = packet.body
        elif packet.type == VIDEO:
            in_force.setdefault(packet.body, set()).add(header)
    assert in_force == {KEY: {AVC_HEADER}, DELTA: {AVC_HEADER}, SLATE_KEY: {slate_header}}
    sent = sum(packet.header for packet in studio.out.packets if packet.type == VIDEO)
    assert sent == (1 if slate_header == AVC_HEADER else 3), "what has not changed is not sent again"


def test_a_programme_of_one_frame_a_second_has_no_slate_between_its_frames(studio: Studio) -> None:
    video = SIZE.model_copy(update={"framerate": 1.0})

    async def story() -> None:
        studio.switch.want(PROGRAM.model_copy(update={"video": video}))
        studio.begin()
        for number in range(1, 11):
            # A little sooner or later, as frames come
            await studio.passes(1 + (-1) ** number / 20, filmed=False, page=True)
            studio.switch.live(Packet(VIDEO, number * 1000, DELTA))
        assert studio.switch.slates == 0
        assert studio.switch.wants_key_frame() is False
        await studio.passes(2.4, filmed=False, page=True)
        assert not studio.switch.on_slate
        await studio.passes(0.2, filmed=False, page=True)
        assert studio.switch.on_slate
        studio.switch.live(Packet(VIDEO, 13_000, KEY))
        assert not studio.switch.on_slate
        await studio.passes(GAP_TIMEOUT_S + 0.1, filmed=False, page=False)
        assert studio.switch.on_slate, "a page that is away is covered at any rate"
        await studio.switch.close()

    run(story())


def test_live_audio_waits_as_long_as_its_frames_did(studio: Studio) -> None:
    studio.switch.audio_delay_ms = lambda: 7
    studio.begin()
    studio.switch.live(Packet(VIDEO, 33, DELTA))
    studio.switch.live(Packet(AUDIO, 40, SOUND))
    video, audio = studio.out.media()[-1], studio.out.media(AUDIO)[-1]
    assert audio.timestamp_ms - video.timestamp_ms == 40 + 7 - 33


def test_a_delay_that_changes_is_reached_by_a_millisecond_a_packet_and_anew_with_each_stream(
    studio: Studio,
) -> None:
    due_ms = 7
    studio.switch.audio_delay_ms = lambda: due_ms
    studio.begin()
    heard: list[int] = []

    def steps(count: int) -> list[int]:
        for _ in range(count):
            heard.append(40 + 20 * len(heard))
            studio.switch.live(Packet(AUDIO, heard[-1], SOUND))
        times = [packet.timestamp_ms for packet in studio.out.media(AUDIO)][-count - 1 :]
        return [after - before for before, after in pairwise(times)]

    steps(1)
    assert steps(3) == [20, 20, 20]
    due_ms = 10
    assert steps(5) == [21, 21, 21, 20, 20]
    due_ms = 8
    assert steps(4) == [19, 19, 20, 20]
    due_ms = 60
    studio.begin()
    assert steps(3)[1:] == [20, 20]


async def test_a_key_frame_is_asked_for_where_the_slate_stays_for_want_of_one(studio: Studio) -> None:
    """Once in a while: what it is asked of takes a moment."""
    studio.switch.want(PROGRAM)
    studio.begin()
    for _ in range(100):
        await asyncio.sleep(0)
    await studio.passes(3, filmed=True, page=True)
    assert not studio.switch.wants_key_frame(), "it is not on the slate"
    await studio.passes(3, filmed=True, page=False)
    assert studio.switch.on_slate
    assert not studio.switch.wants_key_frame(), "the page is not there"
    asked_at = []
    for number in range(6 * 30):
        studio.now += 1 / 30
        studio.live_ms += 33
        studio.switch.live(Packet(VIDEO, studio.live_ms, DELTA))
        studio.switch.check(page_shown=True)
        if studio.switch.wants_key_frame():
            asked_at.append(number / 30)
    assert asked_at == pytest.approx([KEY_FRAME_TIMEOUT_S, 2 * KEY_FRAME_TIMEOUT_S], abs=0.2)
    studio.switch.live(Packet(VIDEO, studio.live_ms + 33, KEY))
    assert not studio.switch.on_slate
    assert not studio.switch.wants_key_frame()
    await studio.switch.close()


def frames_of(studio: Studio) -> list[bytes]:
    return [packet.body for packet in studio.out.media()]


async def delta_frames(studio: Studio, seconds: float) -> list[float]:
    """Frames and audio without a key frame; after how many seconds one was asked for."""
    asked_at = []
    for number in range(round(seconds * 30)):
        await studio.passes(1 / 30, filmed=False, page=True)
        studio.switch.live(Packet(VIDEO, studio.live_ms, DELTA))
        studio.switch.live(Packet(AUDIO, studio.live_ms - 20, SOUND))
        if studio.switch.wants_key_frame():
            asked_at.append(number / 30)
    return asked_at


async def test_frames_that_come_before_a_key_frame_are_not_handed_on_and_one_is_asked_for(
    studio: Studio,
) -> None:
    """As where the agent was restarted, and ffmpeg continues where it was; there is no slate yet."""
    studio.switch.live_begins()
    for header in (Packet(VIDEO, 0, AVC_HEADER), Packet(AUDIO, 0, AAC_HEADER)):
        studio.switch.live(header)
    asked_at = await delta_frames(studio, 6)
    assert asked_at == pytest.approx([KEY_FRAME_TIMEOUT_S, 2 * KEY_FRAME_TIMEOUT_S], abs=0.2)
    assert frames_of(studio) == []
    assert len(studio.out.media(AUDIO)) == 180
    studio.switch.live(Packet(VIDEO, studio.live_ms + 33, KEY))
    studio.live_ms += 33
    assert await delta_frames(studio, 4) == []
    assert frames_of(studio) == [KEY, *[DELTA] * 120]
    assert_times_grow(studio)
    video, audio = studio.out.media()[-1], studio.out.media(AUDIO)[-1]
    assert video.timestamp_ms - audio.timestamp_ms == 20
    await studio.switch.close()


async def test_frames_after_others_that_were_lost_wait_for_a_key_frame_on_the_slate(studio: Studio) -> None:
    """As where the agent stood still, and the queue of ffmpeg was dropped."""
    studio.switch.want(PROGRAM)
    studio.begin()
    await studio.passes(2, filmed=True, page=True)
    assert await delta_frames(studio, 1) == []
    studio.live_ms += 600
    before = len(studio.out.media())
    asked_at = await delta_frames(studio, GAP_TIMEOUT_S - 0.2)
    assert len(studio.out.media()) == before
    assert not studio.switch.on_slate
    asked_at += await delta_frames(studio, 2)
    assert studio.switch.on_slate
    assert DELTA not in frames_of(studio)[before:]
    assert len(asked_at) == 1
    studio.begin()
    assert not studio.switch.on_slate
    assert studio.out.media()[-1].body == KEY
    assert_times_grow(studio)
    await studio.switch.close()


@pytest.mark.parametrize("distances_ms", [[33, 33, 34], [16, 17, 17], [40, 41, 40], [33, 67, 33]])
async def test_a_stream_at_equal_distances_has_lost_nothing(studio: Studio, distances_ms: list[int]) -> None:
    studio.begin()
    time_ms = 0
    for each in distances_ms * 20:
        time_ms += each
        studio.switch.live(Packet(VIDEO, time_ms, DELTA))
    assert frames_of(studio) == [KEY, *[DELTA] * 60]
