"""However many streams flow, a few are measured at a time, and each has its turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import cast

import pytest
from tests.support.waiting import until

from onair_crds.contract.ingest_gateway import StreamState, Video
from onair_crds.rtmp.chunks import RtmpMessage
from onair_ingest.measure import framerates as module
from onair_ingest.measure.framerates import AT_A_TIME, Framerates
from onair_ingest.mediamtx.records import Path, PathSource
from onair_ingest.mediamtx.rtmp_player import MediaServer
from onair_ingest.streams.judgement import Judged, Look
from onair_ingest.streams.streams import Streams

FRAME_MS = 40


class FlowingStreams:
    """So many streams, played for a moment each; the first ones have no key frame, and play without end."""

    def __init__(self, count: int, without_key_frames: int = 0) -> None:
        self._all = [_flowing(f"stream-{n}") for n in range(count)]
        self.without = {f"stream-{n}" for n in range(without_key_frames)}
        self.measured_times: Counter[str] = Counter()
        self.plays: Counter[str] = Counter()
        self.players = self.most_players = self.most_tasks = 0

    def all(self) -> list[Judged]:
        self.most_tasks = max(self.most_tasks, len(asyncio.all_tasks()))
        return self._all

    def measured(self, look: Look, framerate: float) -> None:
        assert framerate == pytest.approx(1000 / FRAME_MS)
        self.measured_times[look.stream] += 1

    async def play(self, stream: str, take: Callable[[RtmpMessage], None]) -> None:
        self.plays[stream] += 1
        self.players += 1
        self.most_players = max(self.most_players, self.players)
        try:
            await asyncio.sleep(0)
            if stream in self.without:
                await asyncio.Event().wait()
            for n in range(50):
                take(RtmpMessage(9, 1, n * FRAME_MS, b"\x27\x01\0\0\0frame"))
        finally:
            self.players -= 1


def _flowing(stream: str) -> Judged:
    state = StreamState(
        stream=stream,
        online=True,
        flowing=True,
        since="2026-01-01T00:00:00Z",
        protocol="rtmp",
        video=Video(codec="H264"),
    )
    source = PathSource(type="rtmpConn", id=stream)
    return Judged(Look(stream, Path(name=stream, source=source), source), state, 0.0, found=False)


async def measured_until(
    monkeypatch: pytest.MonkeyPatch, streams: FlowingStreams, over: Callable[[], bool]
) -> None:
    class PlayerOfFlowing:
        def __init__(self, server: MediaServer, path: str) -> None:
            self._path = path

        async def play(self, take: Callable[[RtmpMessage], None]) -> None:
            await streams.play(self._path, take)

    monkeypatch.setattr(module, "RtmpPlayer", PlayerOfFlowing)
    monkeypatch.setattr(module, "LOOK_S", 0.001)
    running = asyncio.create_task(Framerates(cast("Streams", streams), MediaServer("127.0.0.1", 1)).run())
    try:
        await until(over, "streams are measured", state=lambda: (streams.plays, streams.measured_times))
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_streams_wait_without_tasks_and_each_is_measured_before_any_is_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "AGAIN_S", 0.0)
    before, streams = len(asyncio.all_tasks()), FlowingStreams(20 * AT_A_TIME)
    again_before_all: list[str] = []

    def each_is_measured() -> bool:
        if len(streams.measured_times) < 20 * AT_A_TIME:
            again_before_all.extend(name for name, times in streams.measured_times.items() if times > 1)
        return len(streams.measured_times) == 20 * AT_A_TIME

    await measured_until(monkeypatch, streams, each_is_measured)
    assert not again_before_all
    assert streams.most_players == AT_A_TIME
    assert streams.most_tasks <= before + 1 + AT_A_TIME


async def test_streams_without_key_frames_do_not_keep_others_from_being_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("AGAIN_S", 0.0), ("RETRY_S", 0.0), ("TIMEOUT_S", 0.02)):
        monkeypatch.setattr(module, name, value)
    streams = FlowingStreams(2 * AT_A_TIME, without_key_frames=AT_A_TIME + 1)
    others = 2 * AT_A_TIME - len(streams.without)

    def all_had_turns() -> bool:
        again = [name for name, times in streams.measured_times.items() if times > 2]
        return len(again) == others and all(streams.plays[name] > 1 for name in streams.without)

    await measured_until(monkeypatch, streams, all_had_turns)
    assert not streams.without & streams.measured_times.keys()


async def test_a_stream_is_not_measured_again_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_S", 0.01)
    monkeypatch.setattr(module, "RETRY_S", 0.0)
    streams = FlowingStreams(2, without_key_frames=1)
    await measured_until(monkeypatch, streams, lambda: streams.plays["stream-0"] > 4)
    assert streams.plays["stream-1"] == 1
