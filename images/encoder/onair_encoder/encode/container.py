"""PID 1 of the container `encoder`: keeps the agent and ffmpeg running, and ends where ffmpeg is beyond help.

ffmpeg is a child of this process and not of the agent, so that the encode
continues while the agent restarts. The agent sends over a Unix socket which
command it wants; a line `null` means none. A client that sends `"follow"` instead
is sent the progress of the encode, a line whenever that changes.
"""

from __future__ import annotations

import asyncio
import sys

from onair_encoder.encode.pipeline import Pipeline
from onair_encoder.paths import SUPERVISOR_SOCKET
from onair_encoder.process.child import Child
from onair_encoder.process.orphans import reap_orphans
from onair_encoder.process.wait import terminated

CONCURRENT_LOOKUPS = 64
"""Names that the agent may look up at a time: a silent name server takes seconds of each."""

AGENT_STOP_S = 13.0
"""It waits 3 s for the operator's word and ends streams for 9 s."""


async def run() -> None:
    """Keeps agent and ffmpeg running until SIGTERM, or until ffmpeg is beyond help."""
    stop = terminated()
    SUPERVISOR_SOCKET.unlink(missing_ok=True)
    pipeline = Pipeline()
    server = await asyncio.start_unix_server(pipeline.serve, SUPERVISOR_SOCKET)
    environment = {"UV_THREADPOOL_SIZE": str(CONCURRENT_LOOKUPS)}
    agent = Child("agent", [sys.executable, "-m", "onair_encoder", "agent"], env=environment)
    agent.start()
    reaping = asyncio.create_task(reap_orphans())
    encoding = asyncio.create_task(pipeline.look_after())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({encoding, stopping}, return_when=asyncio.FIRST_COMPLETED)
    hopeless = encoding.done() and not stopping.done()
    for helper in (reaping, encoding, stopping):
        helper.cancel()
    # The agent first: it closes its connections for the next pod, or ends its streams while there is media.
    await agent.stop(timeout_s=AGENT_STOP_S)
    await pipeline.want(None)
    server.close()
    if hopeless:
        sys.exit("ffmpeg fails again and again")
