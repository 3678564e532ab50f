"""Process 1 of the container `encoder`: keeps the agent and ffmpeg running.

ffmpeg is a child of this process and not of the agent, so that the encoder
goes on while the agent restarts. The agent says over a Unix socket which
command it wants; a line `null` means none.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys

from onair_encoder.logs import log
from onair_encoder.places import PULSE_SOCKET, SUPERVISOR_SOCKET, X_SOCKET
from onair_encoder.supervise import Child, reap_orphans, terminated, wait_for_path


class Pipeline:
    """The one ffmpeg process."""

    def __init__(self) -> None:
        self._child: Child | None = None

    async def want(self, command: list[str] | None) -> None:
        """Runs this command and no other; the same command is left alone."""
        if self._child and self._child.command == command:
            return
        if self._child:
            await self._child.stop(signal.SIGINT)
            self._child = None
        if command:
            self._child = Child("ffmpeg", command, before=_inputs_ready)
            self._child.start()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                await self.want(json.loads(line))
        except (ConnectionError, ValueError) as error:
            log("pipeline.request-broken", error=str(error))
        finally:
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
