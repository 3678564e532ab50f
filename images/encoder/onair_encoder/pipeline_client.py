"""Which ffmpeg process 1 is to run, and the socket that its programme comes in by."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from onair_encoder.encoding import FOLLOW, Encoding
from onair_encoder.flv import FlvError, FlvReader, Packet
from onair_encoder.logs import log
from onair_encoder.places import MEDIA_SOCKET, SUPERVISOR_SOCKET
from onair_encoder.switch import Switch

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
        self._current: _Stream | None = None

    async def listen(self) -> asyncio.Server:
        MEDIA_SOCKET.unlink(missing_ok=True)
        loop = asyncio.get_running_loop()
        return await loop.create_unix_server(self._stream, MEDIA_SOCKET)

    def _stream(self) -> _Stream:
        if self._current:
            self._current.close()
        self.streams += 1
        log("stream.begins", number=self.streams)
        self._switch.live_begins()
        self._current = _Stream(self._switch.live)
        return self._current


class _Stream(asyncio.Protocol):
    """One connection of ffmpeg's. Packets go on in the call that brings them: no task has to be woken."""

    def __init__(self, put: Callable[[Packet], None]) -> None:
        self._put = put
        self._flv = FlvReader()
        self._transport: asyncio.BaseTransport | None = None
        self._closed = False

    def close(self) -> None:
        """Takes nothing any more."""
        self._closed = True
        if self._transport:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        if self._closed:
            transport.close()

    def data_received(self, data: bytes) -> None:
        try:
            for packet in self._flv.feed(data):
                if self._closed:
                    return
                self._put(packet)
        except FlvError as error:
            log("stream.broken", error=str(error))
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc:
            log("stream.broken", error=str(exc))
        log("stream.ends")
