"""What the agent says to PID 1 of its container: which ffmpeg is to run; and what it hears of the encode."""

from __future__ import annotations

import asyncio
import json

from onair_encoder.encode.progress import FOLLOW, Encoding
from onair_encoder.logs import log
from onair_encoder.paths import SUPERVISOR_SOCKET

FOLLOW_RETRY_S = 0.5


async def want_pipeline(command: list[str] | None) -> None:
    """Tells process 1 which command is to run.

    Raises:
        OSError: process 1 does not answer.
    """
    _, writer = await asyncio.open_unix_connection(SUPERVISOR_SOCKET)
    writer.write(json.dumps(command).encode() + b"\n")
    await writer.drain()
    writer.close()
    await writer.wait_closed()


class EncodingClient:
    """Knows how the encoding goes."""

    def __init__(self) -> None:
        self.now = Encoding()

    async def run(self) -> None:
        """Follows process 1 until cancelled."""
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(SUPERVISOR_SOCKET)
                writer.write(json.dumps(FOLLOW).encode() + b"\n")
                try:
                    while line := await reader.readline():
                        self.now = Encoding.of(line.decode())
                finally:
                    writer.close()
            except (OSError, ValueError) as error:
                log("supervisor.unreachable", error=str(error))
            await asyncio.sleep(FOLLOW_RETRY_S)
