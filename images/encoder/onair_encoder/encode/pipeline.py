"""The one ffmpeg of a pod: started as the agent wants it, restarted on another display or sound server."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

from onair_crds.runtime.stderr_log import log
from onair_encoder.encode.progress import FOLLOW, EncodeProgress, ProgressParser
from onair_encoder.paths import PULSE_SOCKET, X_SOCKET
from onair_encoder.process.child import Child
from onair_encoder.process.wait import wait_for_path

INPUTS_POLL_S = 0.25
MOST_UNREAD_BYTES = 65536
"""A follower that lets more wait is sent nothing until it has read."""


class Pipeline:
    def __init__(self) -> None:
        self._child: Child | None = None
        self._wanted: list[str] | None = None
        self._turn = asyncio.Lock()
        self._inputs: tuple[object, ...] = ()
        """Which display and sound server ffmpeg was started on."""
        self._progress = ProgressParser(self._send_progress)
        self._followers: set[asyncio.StreamWriter] = set()

    def _send_progress(self, progress: EncodeProgress) -> None:
        for follower in list(self._followers):
            if follower.transport.get_write_buffer_size() < MOST_UNREAD_BYTES:
                follower.write(progress.encode().encode() + b"\n")

    async def _ready(self) -> None:
        await wait_for_path(X_SOCKET)
        await wait_for_path(PULSE_SOCKET)
        self._inputs = _inputs()
        self._progress.started()

    async def want(self, command: list[str] | None) -> None:
        """Runs this command and no other; the same command is left alone. The last request counts."""
        self._wanted = command
        async with self._turn:
            command = self._wanted
            if self._child and self._child.command == command:
                return
            if self._child:
                await self._child.stop(signal.SIGINT)
                self._child = None
            if command:
                self._child = Child("ffmpeg", command, before=self._ready, on_line=self._progress.line)
                self._child.start()

    async def follow_inputs(self) -> None:
        """Restarts ffmpeg when its display or sound server has been replaced, until cancelled.

        ffmpeg itself would continue with the last frame, or without audio.
        """
        while True:
            await asyncio.sleep(INPUTS_POLL_S)
            found = _inputs()
            if self._child and self._inputs and None not in found and found != self._inputs:
                log("inputs.replaced")
                self._inputs = ()
                self._child.kill()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                request = json.loads(line)
                if request == FOLLOW:
                    self._followers.add(writer)
                    self._send_progress(self._progress.now)
                else:
                    await self.want(request)
        except (ConnectionError, ValueError) as error:
            log("pipeline.request-invalid", error=str(error))
        finally:
            self._followers.discard(writer)
            writer.close()


def _inputs() -> tuple[object, ...]:
    """Identifies the display and the sound server that run now; None for one that does not."""

    def identity(path: Path) -> tuple[int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_ctime_ns

    return identity(X_SOCKET), identity(PULSE_SOCKET)
