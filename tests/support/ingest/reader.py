"""A reader of a stream's access units, which decodes what it gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import av
import httpx
from tests.support.plain_http import NO_TLS

from onair_crds.contract.access_units import (
    ACCESS_UNITS_SUFFIX,
    STILL_SUFFIX,
    Record,
    UnitKind,
    decode,
    split_config,
)
from onair_crds.contract.ingest_gateway import STREAMS_PATH, reader_token, stream_of_key


@dataclass
class Reader:
    socket: aiohttp.ClientWebSocketResponse
    records: list[Record] = field(default_factory=list)

    async def read(
        self, count: int, kind: UnitKind = UnitKind.VIDEO, timeout_s: float = 15.0
    ) -> list[Record]:
        """Reads until so many records of a kind have come from here on; returns them."""
        found: list[Record] = []
        async with asyncio.timeout(timeout_s):
            while len(found) < count:
                self.records.append(decode(await self.socket.receive_bytes()))
                if self.records[-1].kind is kind:
                    found.append(self.records[-1])
        return found

    def pause(self) -> None:
        """Takes nothing from the network any more."""
        self._transport.pause_reading()

    def resume(self) -> None:
        self._transport.resume_reading()

    @property
    def _transport(self) -> asyncio.Transport:
        transport = self.socket._writer.transport
        assert isinstance(transport, asyncio.Transport)
        return transport

    async def closed(self, timeout_s: float = 15.0) -> int | None:
        """Reads on until the gateway closes; returns the code."""
        async with asyncio.timeout(timeout_s):
            async for message in self.socket:
                self.records.append(decode(message.data))
        return self.socket.close_code

    def pictures(self) -> list[tuple[int, int, int]]:
        """Presentation time in microseconds, width and height of each decoded picture."""
        decoder: av.VideoCodecContext = av.CodecContext.create("h264", "r")
        frames = []
        for record in self.records:
            if record.kind is UnitKind.VIDEO_CONFIG:
                decoder.extradata = split_config(record.payload)[1]
            elif record.kind is UnitKind.VIDEO:
                packet = av.Packet(record.payload)
                packet.pts, packet.dts = record.pts_us, record.dts_us
                frames += decoder.decode(packet)
        frames += decoder.decode(None)
        return [(frame.pts or 0, frame.width, frame.height) for frame in frames]

    def samples(self) -> int:
        """How many samples of sound are decoded."""
        decoder: av.AudioCodecContext = av.CodecContext.create("aac", "r")
        count = 0
        for record in self.records:
            if record.kind is UnitKind.AUDIO_CONFIG:
                decoder.extradata = split_config(record.payload)[1]
            elif record.kind is UnitKind.AUDIO:
                count += sum(frame.samples for frame in decoder.decode(av.Packet(record.payload)))
        return count


def still(port: int, secret: bytes, key: str) -> httpx.Response:
    """Asks for a still of the stream of a key."""
    stream = stream_of_key(key)
    url = f"http://127.0.0.1:{port}{STREAMS_PATH}/{stream}{STILL_SUFFIX}"
    headers = {"Authorization": f"Bearer {reader_token(secret, stream)}"}
    return httpx.get(url, headers=headers, timeout=20, verify=NO_TLS)


@asynccontextmanager
async def reading(port: int, secret: bytes, key: str) -> AsyncIterator[Reader]:
    """Reads the stream of a key from a gateway on this machine."""
    stream = stream_of_key(key)
    url = f"http://127.0.0.1:{port}{STREAMS_PATH}/{stream}{ACCESS_UNITS_SUFFIX}"
    headers = {"Authorization": f"Bearer {reader_token(secret, stream)}"}
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(url, headers=headers, max_msg_size=0) as socket,
    ):
        yield Reader(socket)
