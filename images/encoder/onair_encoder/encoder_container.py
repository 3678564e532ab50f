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

from onair_encoder.encoding import FOLLOW, Encoding, EncodingListener
from onair_encoder.logs import log
from onair_encoder.places import PULSE_SOCKET, SUPERVISOR_SOCKET, X_SOCKET
from onair_encoder.supervise import Child, reap_orphans, terminated, wait_for_path

MOST_UNREAD = 65536
"""Bytes that wait for a follower before it is told no more."""


class Pipeline:
    """The one ffmpeg process."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._listener = EncodingListener(self._tell)
        self._followers: set[asyncio.StreamWriter] = set()

    def _tell(self, encoding: Encoding) -> None:
        for follower in list(self._followers):
            if follower.transport.get_write_buffer_size() < MOST_UNREAD:
                follower.write(encoding.line().encode() + b"\n")

    async def _ready(self) -> None:
        await _inputs_ready()
        self._listener.started()

    async def want(self, command: list[str] | None) -> None:
        """Runs this command and no other; the same command is left alone."""
        if self._child and self._child.command == command:
            return
        if self._child:
            await self._child.stop(signal.SIGINT)
            self._child = None
        if command:
            self._child = Child("ffmpeg", command, before=self._ready, hears=self._listener.line)
            self._child.start()

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


async def _inputs_ready() -> None:
    await wait_for_path(X_SOCKET)
    await wait_for_path(PULSE_SOCKET)


async def run() -> None:
    stop = terminated()
    SUPERVISOR_SOCKET.unlink(missing_ok=True)
    pipeline = Pipeline()
    server = await asyncio.start_unix_server(pipeline.serve, SUPERVISOR_SOCKET)
    agent = Child("agent", [sys.executable, "-m", "onair_encoder", "agent"])
    agent.start()
    reaper = asyncio.create_task(reap_orphans())
    await stop.wait()
    reaper.cancel()
    # The agent first: its connections close at once, so that the next pod may take over.
    await agent.stop()
    await pipeline.want(None)
    server.close()
