"""Measures the frame rate of every video that flows: soon after it begins or changes, then now and again."""

from __future__ import annotations

import asyncio
import time

import structlog

from onair_ingest.measure.framerate import framerate_of
from onair_ingest.measure.rtsp import NotReadable, RtspReader
from onair_ingest.streams.judgement import Judged
from onair_ingest.streams.streams import Streams

log = structlog.get_logger()

READ_S = 2.0
TIMEOUT_S = 8.0
AT_A_TIME = 4
LOOK_S = 0.25
AGAIN_S = 60.0
"""After a measurement; what changes without a change of the format is found then."""
RETRY_S = 10.0
"""After one that failed."""


class Framerates:
    def __init__(self, streams: Streams, rtsp_url: str, password: str) -> None:
        self._streams = streams
        self._url = rtsp_url.rstrip("/")
        self._password = password
        self._places = asyncio.Semaphore(AT_A_TIME)
        self._due_s: dict[str, float] = {}
        """By connection: when it is measured again."""

    async def run(self) -> None:
        async with asyncio.TaskGroup() as measuring:
            while True:
                now_s = time.monotonic()
                flowing = [
                    judged for judged in self._streams.all() if judged.state.flowing and judged.state.video
                ]
                names = {_name(judged) for judged in flowing}
                self._due_s = {name: due_s for name, due_s in self._due_s.items() if name in names}
                for judged in flowing:
                    if self._due_s.get(_name(judged), 0.0) <= now_s:
                        self._due_s[_name(judged)] = now_s + AGAIN_S
                        measuring.create_task(self._measure(judged))
                await asyncio.sleep(LOOK_S)

    async def _measure(self, judged: Judged) -> None:
        framerate = None
        try:
            async with self._places, asyncio.timeout(TIMEOUT_S):
                reader = RtspReader(self._url, judged.look.path.name, self._password)
                async with reader as track:
                    framerate = framerate_of(await reader.timestamps(READ_S), track.clock_hz)
        except (NotReadable, OSError, asyncio.IncompleteReadError, TimeoutError, ValueError) as error:
            log.info("framerate.not_measured", stream=judged.look.stream, error=type(error).__name__)
        if framerate is None:
            self._due_s[_name(judged)] = time.monotonic() + RETRY_S
        else:
            self._streams.measured(judged.look, framerate)


def _name(judged: Judged) -> str:
    """Of a connection and what it sends: another format is measured at once."""
    video = judged.state.video
    size = f"{video.codec} {video.width}x{video.height}" if video else ""
    return f"{judged.look.stream} {judged.look.source.id} {size}"
