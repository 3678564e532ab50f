"""The picture of a broadcast as it comes from an encoder."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import pytest

from onair_api.errors import Unavailable
from onair_api.live.broadcast import snapshot
from onair_api.live.broadcast.snapshot import EncoderAddress, Encoders

PICTURE = b"\xff\xd8" + b"x" * 300_000 + b"\xff\xd9"


async def picture(body: bytes) -> bytes:
    """What is made of a body that comes in two parts."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body[:1000])
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(body[1000:])
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        client: Any = None
        encoders = Encoders(client, "shows")
        encoders._known["u"] = EncoderAddress(f"http://127.0.0.1:{port}/", ssl.create_default_context(), "t")
        return await encoders.snapshot("p", "u")


async def test_a_picture_in_parts_is_read_to_its_end() -> None:
    assert await picture(PICTURE) == PICTURE


async def test_what_is_too_large_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MAX_BYTES", 2000)
    with pytest.raises(Unavailable):
        await picture(PICTURE)
