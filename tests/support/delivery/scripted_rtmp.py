"""An RTMP server that acknowledges and says what a test wants, as no well-behaved server would."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Any, Self

from tests.support.certificate_authority import HOST

from onair_crds.media.flv import AUDIO, VIDEO, Packet
from onair_crds.rtmp import amf, chunks
from onair_crds.rtmp.chunks import ChunkReader, message_chunks
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.rtmp.handshake import HANDSHAKE_BYTES

TICK_S = 0.02


class ScriptedRtmp:
    """Use as an async context manager; its attributes may change at any time."""

    def __init__(self, ack_bytes: int = 0, respond: Callable[[list[Any]], list[bytes]] | None = None) -> None:
        """
        Args:
            ack_bytes: acknowledges whenever so many more have come, whatever it was asked for.
            respond: commands in AMF0 to a command, instead of those of a server that agrees.
        """
        self.ack_bytes = ack_bytes
        self.reads = True
        self.received = self.sessions = 0
        self._respond = respond or agree
        self._writer: asyncio.StreamWriter | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, HOST, 0, limit=4096)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for each in self._connections:
            each.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def say(self, *values: object) -> None:
        """Sends a command."""
        assert self._writer
        self._writer.writelines(message_chunks(3, chunks.COMMAND_AMF0, 1, 0, amf.encode(*values)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        self._writer, self.received = writer, 0
        self.sessions += 1
        try:
            await reader.readexactly(1)
            writer.write(b"\x03" + bytes(HANDSHAKE_BYTES) + await reader.readexactly(HANDSHAKE_BYTES))
            await reader.readexactly(HANDSHAKE_BYTES)
            await self._take(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parsed, acknowledged = ChunkReader(), 0
        while data := await reader.read(4096):
            self.received += len(data)
            for message in parsed.feed(data):
                if message.type == chunks.COMMAND_AMF0:
                    for body in self._respond(amf.decode(message.body)):
                        writer.writelines(message_chunks(3, chunks.COMMAND_AMF0, 1, 0, body, chunk_size=128))
            if self.ack_bytes and self.received - acknowledged >= self.ack_bytes:
                acknowledged = self.received
                total = struct.pack(">I", acknowledged & 0xFFFFFFFF)
                writer.writelines(message_chunks(2, chunks.ACKNOWLEDGEMENT, 0, 0, total))
            while not self.reads:  # noqa: ASYNC110  until the test lets it
                await asyncio.sleep(TICK_S)


def agree(command: list[Any]) -> list[bytes]:
    """What a server responds that takes every stream."""
    match command:
        case ["connect", number, *_]:
            return [amf.encode("_result", number, {}, {"code": "NetConnection.Connect.Success"})]
        case ["createStream", number, *_]:
            return [amf.encode("_result", number, None, 1.0)]
        case ["publish", *_]:
            return [amf.encode("onStatus", 0, None, {"code": "NetStream.Publish.Start", "level": "status"})]
    return []


async def feed(fan_out: FanOut, bytes_per_s: int) -> None:
    """Puts a programme that no decoder would take into a fan-out, until cancelled."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    fan_out.stream_begins()
    fan_out.put(Packet(VIDEO, 0, b"\x17\0\0\0\0avcc"))
    fan_out.put(Packet(AUDIO, 0, b"\xaf\0\x11\x90"))
    sent = number = 0
    while True:
        now_s = loop.time() - began
        size = max(6, int(now_s * bytes_per_s) - sent)
        sent += size
        head = b"\x17" if number % 50 == 0 else b"\x27"
        fan_out.put(Packet(VIDEO, int(now_s * 1000), head + b"\1\0\0\0" + bytes(size)))
        number += 1
        await asyncio.sleep(TICK_S)
