"""The last segments of one stream, made while somebody plays them."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import structlog

from onair_crds.contract.ingest_gateway import StreamState
from onair_crds.media.flv import AUDIO, VIDEO
from onair_crds.media.playlist import Playlist, Segment
from onair_crds.media.segmenter import Cut, Segmenter
from onair_ingest.hls.memory import MOST_SEGMENT_BYTES, Memory
from onair_ingest.readers.packets import packet_of
from onair_ingest.readers.readers import NoStream, Readers
from onair_ingest.readers.stream_feed import FeedEnded

log = structlog.get_logger()

TARGET_MS = 1000
"""Segments end at the first key frame from then on."""
WINDOW = 6
MOST_BYTES = 4 * MOST_SEGMENT_BYTES
"""Of all segments but the one that is being made: three target durations of the largest, and one more."""
KEPT_BEYOND = 2
"""Segments that the playlist has just lost are kept for players that have read it before."""
StateOf = Callable[[str], StreamState | None]
"""What is known of a stream that is published here."""
NO_STREAM_S = 0.25
LEAST_IDLE_S = 15.0
IDLE_TARGETS = 3
"""A player asks at least once in so many target durations."""


class Window:
    """Reads the stream from `run` until nobody has asked for so long that nobody plays it."""

    def __init__(self, stream: str, readers: Readers, state_of: StateOf, memory: Memory) -> None:
        """
        Args:
            memory: that of all streams that are played.
        """
        self.stream = stream
        self._readers, self._state_of, self._memory = readers, state_of, memory
        self._playlist = Playlist(TARGET_MS / 1000, window=WINDOW)
        # Greater than all of a window that was here before, or at another gateway: players may know that.
        self._playlist.media_sequence = int(time.time())
        self._segments: dict[str, bytes] = {}
        self._asked_s = time.monotonic()
        self._waiting = 0
        self._first = asyncio.Event()
        self._interrupted = False

    @property
    def ready(self) -> bool:
        return self._first.is_set()

    async def wait_ready(self, timeout_s: float) -> bool:
        """Whether there is a segment, after this time at the latest."""
        self._waiting += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._first.wait()
        finally:
            self._waiting -= 1
            self._asked_s = time.monotonic()
        return self.ready

    def playlist(self) -> str:
        self._asked_s = time.monotonic()
        return str(self._playlist)

    def segment(self, name: str) -> bytes | None:
        self._asked_s = time.monotonic()
        return self._segments.get(name)

    async def run(self) -> None:
        """Goes on across ends of the stream: what comes after one is a discontinuity."""
        log.info("hls.begun", stream=self.stream)
        self._memory.add(self)
        reading = asyncio.create_task(self._read())
        try:
            while (left_s := self._left_s) > 0:
                done, _ = await asyncio.wait({reading}, timeout=left_s)
                for each in done:
                    each.result()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            self._memory.remove(self)
            log.info("hls.ended", stream=self.stream)

    @property
    def _left_s(self) -> float:
        """Until nobody plays it, if nobody asks from now on."""
        idle_s = max(LEAST_IDLE_S, IDLE_TARGETS * self._playlist.target_s)
        return idle_s if self._waiting else self._asked_s + idle_s - time.monotonic()

    async def _read(self) -> None:
        while True:
            try:
                await self._read_stream()
            except NoStream:
                await asyncio.sleep(NO_STREAM_S)

    async def _read_stream(self) -> None:
        """Cuts the stream until it ends.

        Raises:
            NoStream: it is not published here.
        """
        segmenter: Segmenter | None = None
        try:
            async with self._readers.subscription(self.stream) as subscription:
                while True:
                    record = await subscription.next_record()
                    segmenter = segmenter or self._segmenter()
                    segmenter.most_bytes = self._memory.segment_bytes
                    with suppress(ValueError, IndexError):  # damaged, as strangers may send it
                        self._take(segmenter.put(packet_of(record)))
        except FeedEnded:
            self._take(segmenter.flush() if segmenter else None)
            self._interrupted = True

    def _segmenter(self) -> Segmenter:
        """One for what the stream has that players decode; what it has only changes with its publisher."""
        state = self._state_of(self.stream)
        video, audio = (state.video, state.audio) if state else (None, None)
        types = [VIDEO] if video and video.codec == "H264" else []
        types += [AUDIO] if audio and audio.codec == "AAC" else []
        clock = partial(dt.datetime.now, dt.UTC)
        return Segmenter(TARGET_MS, clock, self._memory.segment_bytes, types or [VIDEO, AUDIO])

    def _take(self, cut: Cut | None) -> None:
        if cut is None or not cut.data:
            return
        if self._interrupted:
            cut, self._interrupted = replace(cut, discontinuity=True), False
        playlist = self._playlist
        name = f"{playlist.next_sequence}.ts"
        self._segments[name] = bytes(cut.data)
        playlist.add(Segment(name, cut.duration_s, cut.began, cut.discontinuity))
        listed = playlist.names()
        for old in [each for each in self._segments if each not in listed][:-KEPT_BEYOND]:
            del self._segments[old]
        while self.kept_bytes > MOST_BYTES and self.kept_count > 1:
            self.lose_first()
        self._memory.make_room()
        self._first.set()

    @property
    def kept_bytes(self) -> int:
        """Bytes of all finished segments."""
        return sum(len(data) for data in self._segments.values())

    @property
    def kept_count(self) -> int:
        """How many finished segments there are."""
        return len(self._segments)

    def lose_first(self) -> None:
        """Forgets the oldest segment; the playlist does too, where it names that."""
        oldest = next(iter(self._segments))
        del self._segments[oldest]
        if oldest in self._playlist.names():
            self._playlist.lose_first()
