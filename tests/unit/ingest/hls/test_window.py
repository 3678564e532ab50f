"""Segments of a stream while somebody plays it, across its ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from tests.support.media.packets import RECORD
from tests.support.waiting import until

from onair_crds.contract.access_units import (
    CLOSE_ENDED,
    AudioConfig,
    Record,
    UnitKind,
    VideoConfig,
    config_payload,
)
from onair_crds.contract.ingest_gateway import StreamState
from onair_ingest.hls import window as window_module
from onair_ingest.hls.window import Window
from onair_ingest.hls.windows import TooManyWindows, Windows
from onair_ingest.readers.readers import NoStream, Undecodable
from onair_ingest.readers.stream_feed import FeedEnded, ReaderQueue, StreamFeed

VIDEO = Record(UnitKind.VIDEO_CONFIG, 0, 0, config_payload(VideoConfig(codec="avc1.42c01e"), RECORD))
AUDIO = Record(
    UnitKind.AUDIO_CONFIG,
    0,
    0,
    config_payload(AudioConfig(codec="mp4a.40.2", sample_rate=48_000, channels=2), b"\x11\x90"),
)


MEMORY = 2**28


def picture(at_s: float, *, key: bool = False, size: int = 0) -> Record:
    unit = (b"\x65" if key else b"\x41") + b"slice" + bytes(size)
    at_us = round(at_s * 1e6)
    return Record(UnitKind.VIDEO, at_us, at_us, len(unit).to_bytes(4, "big") + unit, key)


class FakeReaders:
    """One stream that a test publishes."""

    def __init__(self) -> None:
        self.feed: StreamFeed | None = None
        self.media: tuple[Record, ...] = ()
        self.refusal: str | None = None
        self.readers = 0
        self.at_s = 0.0

    def publish(self, *configurations: Record) -> None:
        self.feed, self.media = StreamFeed(), configurations or (VIDEO, AUDIO)
        for configuration in self.media:
            self.feed.put(configuration)

    def undecodable(self, stream: str) -> str | None:
        return self.refusal

    def state(self) -> StreamState | None:
        if self.feed is None:
            return None
        media = {}
        if VIDEO in self.media:
            media["video"] = {"codec": "H264"}
        if AUDIO in self.media:
            media["audio"] = {"codec": "AAC"}
        told = {"stream": "stream", "online": True, "flowing": True, "since": "2026-11-22T10:00:00Z"}
        return StreamState.model_validate({**told, "protocol": "rtmp", **media})

    def end(self) -> None:
        assert self.feed
        self.feed.end(FeedEnded(CLOSE_ENDED, "the stream ended"))
        self.feed = None

    def gops(self, count: int, each_s: float = 2.0, size: int = 0) -> None:
        """
        Args:
            size: of the key frames, bytes.
        """
        assert self.feed
        for _ in range(count):
            self.feed.put(picture(self.at_s, key=True, size=size))
            self.feed.put(picture(self.at_s + each_s / 2))
            self.at_s += each_s

    @contextlib.asynccontextmanager
    async def subscription(self, stream: str) -> AsyncIterator[ReaderQueue]:
        if self.feed is None:
            raise NoStream(stream)
        feed, self.readers = self.feed, self.readers + 1
        subscription = feed.subscribe()
        try:
            yield subscription
        finally:
            feed.unsubscribe(subscription)
            self.readers -= 1


@pytest.fixture
def readers() -> FakeReaders:
    return FakeReaders()


@pytest.fixture
async def windows(readers: FakeReaders, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Windows]:
    monkeypatch.setattr(window_module, "NO_STREAM_S", 0.01)
    windows = Windows(cast(Any, readers), lambda _: readers.state(), most=1, most_bytes=MEMORY)
    yield windows
    await windows.close()


@pytest.fixture
async def window(readers: FakeReaders, windows: Windows) -> Window:
    """Of a stream that is published and read."""
    readers.publish()
    window = windows.play("stream")
    await until(lambda: readers.readers)
    return window


def segments(playlist: str) -> list[str]:
    return [line for line in playlist.splitlines() if line.endswith(".ts")]


async def test_nothing_is_read_before_somebody_plays_and_after_nobody_does(
    readers: FakeReaders, windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_module, "LEAST_IDLE_S", 0.05)
    monkeypatch.setattr(window_module, "IDLE_TARGETS", 0)
    with pytest.raises(NoStream):
        windows.play("stream")
    readers.publish()
    window = windows.play("stream")
    assert windows.play("stream") is window, "it is cut once for all"
    await until(lambda: readers.readers == 1)
    await until(lambda: readers.readers == 0 and not windows.count, "nothing is read", 5)


async def test_so_many_streams_and_no_more_are_played(readers: FakeReaders, windows: Windows) -> None:
    readers.publish()
    windows.play("stream")
    with pytest.raises(TooManyWindows):
        windows.play("another")


async def test_segments_begin_with_key_frames_and_the_oldest_go(readers: FakeReaders, window: Window) -> None:
    assert not await window.wait_ready(0.01)
    readers.gops(2)
    assert await window.wait_ready(5)
    (first,) = segments(window.playlist())
    assert (window.segment(first) or b"")[0] == 0x47
    readers.gops(20)
    await until(lambda: len(segments(window.playlist())) == window_module.WINDOW)
    await until(lambda: window.segment(first) is None)
    assert len(window._segments) <= window_module.WINDOW + window_module.KEPT_BEYOND
    assert "#EXT-X-TARGETDURATION:2\n" in window.playlist()
    assert "DISCONTINUITY" not in window.playlist()


async def test_who_waits_for_the_first_segment_plays_the_stream(
    readers: FakeReaders, windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_module, "LEAST_IDLE_S", 0.05)
    monkeypatch.setattr(window_module, "IDLE_TARGETS", 0)
    readers.publish()
    window = windows.play("stream")
    waiting = asyncio.create_task(window.wait_ready(5))
    windows.play("stream")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await asyncio.shield(waiting)
    assert windows.get("stream") is window
    readers.gops(2)
    assert await waiting


async def test_ten_seconds_at_twenty_five_megabits_are_one_segment(
    readers: FakeReaders, window: Window
) -> None:
    readers.gops(1, each_s=10.0, size=31_000_000)
    readers.gops(1)
    assert await window.wait_ready(5)
    (only,) = segments(window.playlist())
    assert "#EXTINF:10.000,\n" in window.playlist()
    assert len(window.segment(only) or b"") > 31_000_000


async def test_large_segments_are_fewer(
    readers: FakeReaders, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_module, "MOST_BYTES", 500_000)
    for _ in range(12):
        readers.gops(1, size=100_000)
    readers.gops(1)
    # All but the one that the last key frame begins
    await until(lambda: window._playlist.total_s == 24)
    names = segments(window.playlist())
    assert len(names) == 4
    assert list(window._segments) == names
    assert f"#EXT-X-MEDIA-SEQUENCE:{names[0].removesuffix('.ts')}\n" in window.playlist()


async def test_many_streams_keep_to_the_memory_of_all(readers: FakeReaders) -> None:
    most_bytes, streams = 1_000_000, 10
    windows = Windows(cast(Any, readers), lambda _: readers.state(), streams, most_bytes)
    readers.publish()
    played = [windows.play(f"stream-{number}") for number in range(streams)]
    await until(lambda: readers.readers == streams)
    for _ in range(12):
        readers.gops(1, size=20_000)
    readers.gops(1)
    await until(lambda: all(each._playlist.total_s == 24 for each in played))
    assert sum(each.kept_bytes for each in played) <= most_bytes / 2
    for each in played:
        names = segments(each.playlist())
        assert names
        assert list(each._segments) == names
    readers.gops(1, size=60_000)
    readers.gops(2)
    await until(lambda: all(each._playlist.total_s >= 28 for each in played))
    assert all("DISCONTINUITY\n" in each.playlist() for each in played), "a tenth of the half is a segment"
    await windows.close()


async def test_a_stream_that_is_back_goes_on_with_a_discontinuity(
    readers: FakeReaders, window: Window
) -> None:
    readers.gops(3)
    readers.end()
    await until(lambda: len(segments(window.playlist())) == 3)
    before = segments(window.playlist())
    readers.publish()
    await until(lambda: readers.readers)
    readers.gops(2)
    await until(lambda: len(segments(window.playlist())) == 4)
    playlist = window.playlist()
    assert segments(playlist)[:3] == before
    lines = playlist.splitlines()
    at = lines.index("#EXT-X-DISCONTINUITY")
    assert next(line for line in lines[at:] if line.endswith(".ts")) == segments(playlist)[3]
    assert playlist.count("#EXT-X-DISCONTINUITY\n") == 1


def audible(at_s: float) -> Record:
    at_us = round(at_s * 1e6)
    return Record(UnitKind.AUDIO, at_us, at_us, b"sound", key=True)


async def test_a_stream_that_comes_back_without_its_video_goes_on_as_audio(
    readers: FakeReaders, window: Window
) -> None:
    readers.gops(2)
    readers.end()
    await until(lambda: len(segments(window.playlist())) == 2)
    readers.publish(AUDIO)
    await until(lambda: readers.readers)
    assert readers.feed
    for number in range(150):
        readers.feed.put(audible(number / 50))
    await until(lambda: len(segments(window.playlist())) == 5)
    assert window.playlist().count("#EXT-X-DISCONTINUITY\n") == 1
    assert b"\x00\x00\x01\xc0" in (window.segment(segments(window.playlist())[-1]) or b"")


async def test_numbers_of_segments_are_greater_than_those_of_a_window_before(
    readers: FakeReaders, windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers.publish()
    monkeypatch.setattr("time.time", lambda: 1_770_000_000.9)
    window = windows.play("stream")
    assert "#EXT-X-MEDIA-SEQUENCE:1770000000\n" in window.playlist()


async def test_damaged_frames_do_no_harm(readers: FakeReaders, window: Window) -> None:
    assert readers.feed
    cut_short = Record(
        UnitKind.VIDEO_CONFIG, 0, 0, config_payload(VideoConfig(codec="avc1.42c01e"), RECORD[:9])
    )
    strange = config_payload(AudioConfig(codec="mp4a.40.42", sample_rate=1, channels=1), b"\xff\xff\xff")
    for record in (cut_short, VIDEO, Record(UnitKind.AUDIO_CONFIG, 0, 0, strange)):
        readers.feed.put(record)
    readers.feed.put(Record(UnitKind.VIDEO, 0, 0, b"\xff\xff\xff\xff\x65", key=True))
    readers.feed.put(Record(UnitKind.AUDIO, 0, 0, b"sound", key=True))
    readers.gops(3)
    assert await window.wait_ready(5)


async def test_what_no_player_decodes_is_refused_at_once(readers: FakeReaders, windows: Windows) -> None:
    readers.publish()
    readers.refusal = "it has H265"
    with pytest.raises(Undecodable, match="it has H265"):
        windows.play("stream")
    assert windows.count == 0
    readers.refusal = None
    assert windows.play("stream")
