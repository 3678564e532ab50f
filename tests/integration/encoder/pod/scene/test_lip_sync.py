"""Whether viewers hear what they see: the audio of videos and guests beside their pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from tests.support.ingest.clip import ClipEncoding, make_clip, mp4_of
from tests.support.media import painted
from tests.support.media.live_view import SAMPLE_RATE, LiveRecording, LiveView, Pixels
from tests.support.pages import site
from tests.support.rooms.member import member
from tests.support.scene.on_air import OnAir, square

pytestmark = pytest.mark.media

BLUE = (0, 0, 160)
WIDTH, RATE = 320, 20
"""Of a clock in the picture; frames a second of a guest's camera."""
CLIP_S, WATCH_S = 60, 8.0
JOINED_S = 40.0
AV_MS = 40.0
ATTEMPTS = 8
"""Until audio and video are together: a room takes some seconds, and a busy machine is late now and then."""
GUEST = "carla"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a video with a painted clock and clicks."""
    path = tmp_path_factory.mktemp("clip") / "clip.mkv"
    made = make_clip(path, CLIP_S, ClipEncoding(WIDTH, 180, bitrate_kbps=1000))
    with site({"/clip.mp4": ("video/mp4", mp4_of(made, CLIP_S))}) as address:
        yield f"{address}/clip.mp4"


def clock(pixels: Pixels) -> painted.Painted | None:
    """What the clock shows at the top left."""
    return painted.read_frame(pixels[: WIDTH // painted.COLUMNS * painted.ROWS, :WIDTH].mean(axis=2))


def offset_ms(recording: LiveRecording) -> float | None:
    """Audio minus video; None where it is not known."""
    frames = recording.frames
    first_s = frames[0].at_s
    clicks = painted.click_times(recording.sound(first_s, frames[-1].at_s - 0.1), SAMPLE_RATE)
    times_s = [each.at_s for each in frames]
    return painted.av_distance_ms(
        [first_s + each for each in clicks], times_s, [clock(f.pixels) for f in frames]
    )


async def are_together(view: LiveView) -> None:
    """Watches until audio and video are."""
    found: list[float | None] = []
    for _ in range(ATTEMPTS):
        # In threads: a guest that stands still meanwhile would be heard late for long after that
        recording = await asyncio.to_thread(view.watch, WATCH_S)
        offset = await asyncio.to_thread(offset_ms, recording)
        if offset is not None and abs(offset) <= AV_MS:
            return
        found.append(offset)
    raise AssertionError(f"audio is {found} ms later than video")


async def test_a_video_is_heard_as_it_is_seen(air: OnAir, view: LiveView, clip: str) -> None:
    box = {"x": 0, "y": 0, "width": WIDTH, "height": 180}
    video = {"type": "video", **box, "data": {"media": {"url": clip, "loop": True}}}
    scene = await asyncio.to_thread(air.scene, ground=square(BLUE), video=video)
    await asyncio.to_thread(air.select, scene)
    await asyncio.to_thread(view.until, "the video", clock, JOINED_S)
    await are_together(view)
    await asyncio.to_thread(air.leave, view, scene)


async def test_a_guest_is_heard_as_they_are_seen(air: OnAir, view: LiveView) -> None:
    box = {"x": 0, "y": 0, "width": WIDTH, "height": 240}
    webcam = {"type": "webrtc", **box, "data": {"webrtc": {"id": GUEST, "type": "webcam", "volume": 1}}}
    scene = await asyncio.to_thread(air.scene, ground=square(BLUE), webcam=webcam)
    await asyncio.to_thread(air.select, scene)
    token = await asyncio.to_thread(air.room_token, await asyncio.to_thread(air.guest, GUEST), GUEST)
    async with member(air.signal_url, token, subscribe=False, insist_s=JOINED_S) as guest:
        await guest.publish_clicks(WIDTH, 240, RATE)
        await asyncio.to_thread(view.until, "the guest", clock, JOINED_S)
        await are_together(view)
    await asyncio.to_thread(air.leave, view, scene)
