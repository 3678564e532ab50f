"""Process 1 of the container `encoder`: keeps the agent and ffmpeg running.

ffmpeg is a child of this process and not of the agent, so that the encoder
goes on while the agent restarts. The agent says over a Unix socket which
command it wants; a line `null` means none. Who says `"follow"` instead is told
how the encoding goes, a line whenever there is news.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

from onair_encoder.encode.progress import FOLLOW, Encoding, EncodingListener
from onair_encoder.logs import log
from onair_encoder.paths import PULSE_SOCKET, SUPERVISOR_SOCKET, X_SOCKET
from onair_encoder.process.supervise import Child, reap_orphans, terminated, wait_for_path

LOOK_S = 0.25
NAMES_AT_ONCE = 64
"""Names that the agent may look up at a time: those whose name server is silent wait for seconds."""
MOST_UNREAD = 65536
"""Bytes that wait for a follower before it is told no more."""


class Pipeline:
    """The one ffmpeg process."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._wanted: list[str] | None = None
        self._turn = asyncio.Lock()
        self._inputs: tuple[object, ...] = ()
        """Which display and sound server ffmpeg was started on."""
        self._listener = EncodingListener(self._tell)
        self._followers: set[asyncio.StreamWriter] = set()

    def _tell(self, encoding: Encoding) -> None:
        for follower in list(self._followers):
            if follower.transport.get_write_buffer_size() < MOST_UNREAD:
                follower.write(encoding.line().encode() + b"\n")

    async def _ready(self) -> None:
        await wait_for_path(X_SOCKET)
        await wait_for_path(PULSE_SOCKET)
        self._inputs = _inputs()
        self._listener.started()

    async def want(self, command: list[str] | None) -> None:
        """Runs this command and no other; the same command is left alone. The last one asked for counts."""
        self._wanted = command
        async with self._turn:
            command = self._wanted
            if self._child and self._child.command == command:
                return
            if self._child:
                await self._child.stop(signal.SIGINT)
                self._child = None
            if command:
                self._child = Child("ffmpeg", command, before=self._ready, hears=self._listener.line)
                self._child.start()

    async def follow_inputs(self) -> None:
        """Starts ffmpeg again when its display or sound server is another one, until cancelled.

        ffmpeg itself goes on with the old picture, or without sound.
        """
        while True:
            await asyncio.sleep(LOOK_S)
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
                    self._tell(self._listener.now)
                else:
                    await self.want(request)
        except (ConnectionError, ValueError) as error:
            log("pipeline.request-broken", error=str(error))
        finally:
            self._followers.discard(writer)
            writer.close()


def _inputs() -> tuple[object, ...]:
    """Tells one display and sound server from those that follow them; None for what is not there."""

    def identity(path: Path) -> tuple[int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_ctime_ns

    return identity(X_SOCKET), identity(PULSE_SOCKET)


async def run() -> None:
    stop = terminated()
    SUPERVISOR_SOCKET.unlink(missing_ok=True)
    pipeline = Pipeline()
    server = await asyncio.start_unix_server(pipeline.serve, SUPERVISOR_SOCKET)
    names = {"UV_THREADPOOL_SIZE": str(NAMES_AT_ONCE)}
    agent = Child("agent", [sys.executable, "-m", "onair_encoder", "agent"], env=names)
    agent.start()
    helpers = [asyncio.create_task(each) for each in (reap_orphans(), pipeline.follow_inputs())]
    await stop.wait()
    for helper in helpers:
        helper.cancel()
    # The agent first: its connections close at once, so that the next pod may take over.
    await agent.stop()
    await pipeline.want(None)
    server.close()
