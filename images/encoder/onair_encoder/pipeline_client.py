"""Which ffmpeg process 1 is to run, and the socket that its programme comes in by."""

from __future__ import annotations

import asyncio
import json

from onair_encoder.encoding import FOLLOW, Encoding
from onair_encoder.flv import FlvError, FlvReader
from onair_encoder.logs import log
from onair_encoder.places import MEDIA_SOCKET, SUPERVISOR_SOCKET
from onair_encoder.switch import Switch

READ_SIZE = 256 * 1024
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


class ProgramInput:
    """Takes the programme of whichever ffmpeg connected last."""

    def __init__(self, switch: Switch) -> None:
        self.streams = 0
        self._switch = switch
        self._current: asyncio.StreamWriter | None = None

    async def listen(self) -> asyncio.Server:
        MEDIA_SOCKET.unlink(missing_ok=True)
        return await asyncio.start_unix_server(self._serve, MEDIA_SOCKET, limit=READ_SIZE)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._current:
            self._current.close()
        self._current = writer
        self.streams += 1
        log("stream.begins", number=self.streams)
        flv = FlvReader()
        self._switch.live_begins()
        put = self._switch.live
        try:
            while (data := await reader.read(READ_SIZE)) and self._current is writer:
                for packet in flv.feed(data):
                    put(packet)
        except (OSError, FlvError) as error:
            log("stream.broken", error=str(error))
        finally:
            log("stream.ends")
            writer.close()
