"""Measures the frame rate of every video that flows: soon after it begins or changes, then now and again."""

from __future__ import annotations

import asyncio
import contextlib
import time

import structlog

from onair_crds.rtmp.chunks import RtmpMessage
from onair_ingest.measure.framerate import framerate_of
from onair_ingest.mediamtx.rtmp_player import MediaServer, PlayError, RtmpPlayer
from onair_ingest.mediamtx.video_message import is_frame, presented_ms
from onair_ingest.streams.judgement import Judged
from onair_ingest.streams.streams import Streams

log = structlog.get_logger()

READ_S = 2.0
TIMEOUT_S = 15.0
"""A stream is played from its next key frame on: encoders send them up to 10 s apart."""
AT_A_TIME = 8
LOOK_S = 0.25
AGAIN_S = 60.0
"""After a measurement; what changes without a change of the format is found then."""
RETRY_S = 10.0
"""After one that failed."""
CLOCK_HZ = 1000
"""Of RTMP."""


class Framerates:
    def __init__(self, streams: Streams, server: MediaServer) -> None:
        self._streams = streams
        self._server = server
        self._running: set[str] = set()
        """The connections that are measured now."""
        self._due_s: dict[str, float] = {}
        """By connection: when it is measured again."""

    async def run(self) -> None:
        async with asyncio.TaskGroup() as measuring:
            while True:
                for judged in self._next(time.monotonic()):
                    self._running.add(_name(judged))
                    measuring.create_task(self._measure(judged))
                await asyncio.sleep(LOOK_S)

    def _next(self, now_s: float) -> list[Judged]:
        """As much as there is room for: first what never was measured, then what has been due the longest."""
        flowing = {
            _name(judged): judged
            for judged in self._streams.all()
            if judged.state.flowing and judged.state.video
        }
        self._due_s = {name: due_s for name, due_s in self._due_s.items() if name in flowing}
        due_s = {name: self._due_s.get(name, 0.0) for name in flowing if name not in self._running}
        due = sorted((name for name in due_s if due_s[name] <= now_s), key=due_s.__getitem__)
        return [flowing[name] for name in due[: AT_A_TIME - len(self._running)]]

    async def _measure(self, judged: Judged) -> None:
        name, framerate = _name(judged), None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                framerate = framerate_of(await self._times(judged.look.path.name), CLOCK_HZ)
        except (PlayError, TimeoutError) as error:
            log.info("framerate.not_measured", stream=judged.look.stream, error=type(error).__name__)
        finally:
            self._running.discard(name)
        if framerate is not None:
            self._streams.measured(judged.look, framerate)
        self._due_s[name] = time.monotonic() + (RETRY_S if framerate is None else AGAIN_S)

    async def _times(self, path: str) -> list[int]:
        """When the frames of some seconds are shown, in milliseconds; of fewer where the stream ends.

        Not when they are decoded: the media server makes that up where frames are in another order.

        Raises:
            PlayError
        """
        times: list[int] = []
        began_s: float | None = None

        def take(message: RtmpMessage) -> None:
            nonlocal began_s
            if is_frame(message):
                times.append(presented_ms(message))
                began_s = began_s or time.monotonic()
                if time.monotonic() - began_s > READ_S:
                    # Whatever is shown before this one is decoded has come
                    times[:] = [each for each in times if each <= message.timestamp_ms]
                    raise _EnoughRead

        with contextlib.suppress(_EnoughRead):
            await RtmpPlayer(self._server, path).play(take)
        return times


class _EnoughRead(Exception):
    """All frames have come that are needed."""


def _name(judged: Judged) -> str:
    """Of a connection and what it sends: another format is measured at once."""
    video = judged.state.video
    size = f"{video.codec} {video.width}x{video.height}" if video else ""
    return f"{judged.look.stream} {judged.look.source.id} {size}"
