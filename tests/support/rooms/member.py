"""A participant of a room without a browser: LiveKit's native client, which publishes nothing by itself."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from livekit import rtc
from tests.support.ingest.clip import clock_rows
from tests.support.media.painted import COLUMNS, TICKS
from tests.support.scene.picture import Colour

TONE_RATE_HZ = 48_000
PLAIN_SIZE = (320, 180)
CLICK_HZ, CLICK_S, PIECE_S, QUEUE_MS = 3000, 0.03, 0.05, 400
"""Clicks are given in pieces, as long before they are sent as a process of tests may stand still."""
CLICK_GAPS = (14, 18, 16, 22, 13, 19)
"""Pieces from one click to the next: they differ, so that no two fit in place of each other."""
OFFSETS = np.array([16, 128, 128])
WEIGHTS = np.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]])
"""Of BT.601: luma, and how far the colour is from it towards blue and red."""


class Member:
    """Somebody in a room; `gone` is set when the server has disconnected them."""

    def __init__(self) -> None:
        self.room = rtc.Room()
        self.gone = asyncio.Event()
        self.sizes: dict[str, list[tuple[int, int]]] = {}
        """Of the pictures that were decoded, by whose they are."""
        self.loudest: dict[str, int] = {}
        """Of the samples that were heard, likewise."""
        self.watching: Callable[[rtc.VideoFrame], None] = lambda frame: None
        """Is given each picture."""
        self.hearing: Callable[[rtc.AudioFrame], None] = lambda frame: None
        """Is given each piece of audio."""
        self.colours: dict[rtc.TrackSource.ValueType, Colour] = {}
        """What plain cameras and screens see; those that are published see what is set here later."""
        self._listening: set[asyncio.Task[None]] = set()
        self.room.on("track_subscribed", self._subscribed)

    def _subscribed(
        self, track: rtc.RemoteTrack, _: rtc.RemoteTrackPublication, participant: rtc.RemoteParticipant
    ) -> None:
        take = self._watch if track.kind == rtc.TrackKind.KIND_VIDEO else self._hear
        self._listening.add(asyncio.create_task(take(track, participant.identity)))

    async def _watch(self, track: rtc.RemoteTrack, identity: str) -> None:
        async for event in rtc.VideoStream(track):
            self.watching(event.frame)
            self.sizes.setdefault(identity, []).append((event.frame.width, event.frame.height))

    async def _hear(self, track: rtc.RemoteTrack, identity: str) -> None:
        async for event in rtc.AudioStream(track):
            self.hearing(event.frame)
            known = self.loudest.get(identity, 0)
            self.loudest[identity] = max(known, *map(abs, event.frame.data))

    async def publish_microphone(
        self,
        hz: float = 500,
        peak: float = 0.3,
        *,
        of: rtc.TrackSource.ValueType = rtc.TrackSource.SOURCE_MICROPHONE,
    ) -> rtc.LocalTrackPublication:
        """Publishes a microphone that hears a tone, or the sound of a screen; full scale is a peak of 1."""
        source = rtc.AudioSource(TONE_RATE_HZ, 1)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        options = rtc.TrackPublishOptions(source=of, dtx=False)
        options.audio_encoding.max_bitrate = 128_000
        published = await self.room.local_participant.publish_track(track, options)
        self._listening.add(asyncio.create_task(_sound(source, hz, peak)))
        return published

    async def publish_colour(
        self, colour: Colour, *, of: rtc.TrackSource.ValueType = rtc.TrackSource.SOURCE_CAMERA
    ) -> rtc.VideoSource:
        """Publishes a camera that sees one colour, or a screen of one; encoded as browsers do, by BT.601."""
        width, height = PLAIN_SIZE
        source = rtc.VideoSource(width, height)
        track = rtc.LocalVideoTrack.create_video_track("plain", source)
        options = rtc.TrackPublishOptions(source=of, simulcast=False)
        options.video_encoding.max_bitrate, options.video_encoding.max_framerate = 2_000_000, 10
        await self.room.local_participant.publish_track(track, options)
        self.colours[of] = colour
        self._listening.add(asyncio.create_task(_plain(source, lambda: self.colours[of])))
        return source

    async def publish_camera(
        self, width: int, height: int, rate: int, clicks_ms: Sequence[int] = (0,)
    ) -> None:
        """Publishes bars that move below a painted clock, as a camera; its width is a multiple of 32.

        Args:
            clicks_ms: the clock tells of the last one.
        """
        source = rtc.VideoSource(width, height)
        track = rtc.LocalVideoTrack.create_video_track("camera", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_CAMERA, simulcast=False)
        await self.room.local_participant.publish_track(track, options)
        self._listening.add(asyncio.create_task(_film(source, width, height, rate, clicks_ms)))

    async def publish_clicks(self, width: int, height: int, rate: int) -> None:
        """Publishes a camera that sees a clock, and a microphone with clicks, which the clock tells of."""
        source, clicks_ms = rtc.AudioSource(TONE_RATE_HZ, 1, queue_size_ms=QUEUE_MS), [0]
        track = rtc.LocalAudioTrack.create_audio_track("clicks", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE, dtx=False)
        await self.room.local_participant.publish_track(track, options)
        self._listening.add(asyncio.create_task(_clicks(source, clicks_ms)))
        await self.publish_camera(width, height, rate, clicks_ms)

    def end(self) -> None:
        for task in self._listening:
            task.cancel()

    async def disconnected(self, timeout_s: float = 10.0) -> None:
        async with asyncio.timeout(timeout_s):
            await self.gone.wait()


async def _sound(source: rtc.AudioSource, hz: float, peak: float) -> None:
    assert hz % 100 == 0, "whole waves follow each other"
    times_s = np.arange(TONE_RATE_HZ // 100) / TONE_RATE_HZ
    samples = (np.sin(2 * np.pi * hz * times_s) * peak * 32_767).astype(np.int16)
    while True:  # the source has a queue, and waits while it is full
        await source.capture_frame(rtc.AudioFrame(samples.tobytes(), TONE_RATE_HZ, 1, len(samples)))


async def _plain(source: rtc.VideoSource, seen: Callable[[], Colour]) -> None:
    width, height = PLAIN_SIZE
    quarter = width * height // 4
    while True:
        colour = np.array(seen()) / 255
        luma, blue, red = np.round(OFFSETS + WEIGHTS @ colour).astype(np.uint8).tolist()
        planes = bytes([luma]) * width * height + bytes([blue]) * quarter + bytes([red]) * quarter
        source.capture_frame(rtc.VideoFrame(width, height, rtc.VideoBufferType.I420, planes))
        await asyncio.sleep(0.1)


async def _clicks(source: rtc.AudioSource, clicks_ms: list[int]) -> None:
    """Adds when each click is sent."""
    size = round(TONE_RATE_HZ * PIECE_S)
    times_s = np.arange(size) / TONE_RATE_HZ
    wave = np.sin(2 * np.pi * CLICK_HZ * times_s) * (times_s < CLICK_S)
    loud, silent = ((wave * peak * 32_767).astype(np.int16).tobytes() for peak in (0.6, 0))
    for gap in itertools.cycle(CLICK_GAPS):
        for at in range(gap):
            if at == 0:
                clicks_ms.append(round((time.time() + source.queued_duration) * 1000))
            await source.capture_frame(rtc.AudioFrame(silent if at else loud, TONE_RATE_HZ, 1, size))


async def _film(
    source: rtc.VideoSource, width: int, height: int, rate: int, clicks_ms: Sequence[int]
) -> None:
    loop = asyncio.get_running_loop()
    began, bars = loop.time(), np.tile(np.arange(width, dtype=np.uint8), (height, 1))
    for number in itertools.count():
        red_green_blue_x = np.stack([np.roll(bars, 4 * number, 1), bars, bars[::-1], bars], axis=2)
        now_ms = round(time.time() * 1000)
        last_ms = next((each for each in reversed(clicks_ms) if each <= now_ms), 0)
        clock = clock_rows(width // COLUMNS, now_ms, 2 * number % TICKS, last_ms)
        red_green_blue_x[: len(clock), : clock.shape[1], :3] = clock[..., None]
        frame = rtc.VideoFrame(width, height, rtc.VideoBufferType.RGBA, red_green_blue_x.tobytes())
        source.capture_frame(frame)
        await asyncio.sleep(began + (number + 1) / rate - loop.time())


@contextlib.asynccontextmanager
async def member(
    url: str, token: str, *, subscribe: bool = True, insist_s: float = 0
) -> AsyncIterator[Member]:
    """Joins for as long as the context lasts.

    Args:
        subscribe: receives what others publish.
        insist_s: tries again for so long until it is let in.

    Raises:
        rtc.ConnectError: the room is not to be joined with this token.
    """
    deadline = time.monotonic() + insist_s
    while True:
        joined = Member()
        joined.room.on("disconnected", lambda *_, joined=joined: joined.gone.set())
        try:
            await joined.room.connect(url, token, rtc.RoomOptions(auto_subscribe=subscribe))
            break
        except rtc.ConnectError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.2)
    try:
        yield joined
    finally:
        joined.end()
        await joined.room.disconnect()


@contextlib.contextmanager
def plain_camera(url: str, token: str, colour: Colour) -> Iterator[None]:
    """Somebody is in a room with a camera that sees one colour, beside a test that is no coroutine."""
    over = threading.Event()

    async def stay() -> None:
        async with member(url, token, subscribe=False) as there:
            await there.publish_colour(colour)
            joined.set_result(None)
            await asyncio.to_thread(over.wait)

    def fail_unless_joined(done: Future[None]) -> None:
        if not joined.done():
            joined.set_exception(done.exception())

    joined: Future[None] = Future()
    with ThreadPoolExecutor(1) as pool:
        staying = pool.submit(asyncio.run, stay())
        staying.add_done_callback(fail_unless_joined)
        try:
            joined.result(20)
            yield
        finally:
            over.set()
    staying.result()
