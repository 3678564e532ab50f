"""Rewrites the address in the `connect` of an RTMP client that reaches its server through a relay.

MediaMTX says where it connects to, which is the relay; servers choose by what they are called. Its client
sends few and small messages before: each is one chunk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

HANDSHAKE = (1537, 1536)
"""Bytes of C0 with C1, and of C2."""
HEADER_BYTES = {0: 11, 1: 7}
SET_CHUNK_SIZE, COMMAND = 1, 20
FIRST_CHUNK_SIZE = 128
TC_URL = b"\x00\x05tcUrl\x02"
MAX_MESSAGE = 65_536


class NotRtmp(Exception):
    """The client does not speak as MediaMTX' does."""


async def relay_connect(
    client: asyncio.StreamReader, forward: Callable[[bytes], None], before: str, after: str
) -> None:
    """Forwards what a client sends up to its `connect`, in which `before` becomes `after`.

    Raises:
        NotRtmp
        asyncio.IncompleteReadError: the client is gone.
    """
    for size in HANDSHAKE:
        forward(await client.readexactly(size))
    chunk_size = FIRST_CHUNK_SIZE
    while True:
        first = await client.readexactly(1)
        header_bytes = HEADER_BYTES.get(first[0] >> 6)
        if header_bytes is None or first[0] & 0x3F < 2:
            raise NotRtmp("an unexpected chunk header")
        header = await client.readexactly(header_bytes)
        length, kind = int.from_bytes(header[3:6], "big"), header[6]
        if length > min(chunk_size, MAX_MESSAGE):
            raise NotRtmp("a message of several chunks before connect")
        body = await client.readexactly(length)
        if kind == SET_CHUNK_SIZE:
            chunk_size = int.from_bytes(body[:4], "big")
        if kind == COMMAND:
            body = with_address(body, before.encode(), after.encode())
            header = header[:3] + len(body).to_bytes(3, "big") + header[6:]
        forward(first + header + body)
        if kind == COMMAND:
            return


def with_address(body: bytes, before: bytes, after: bytes) -> bytes:
    """A `connect` command whose `tcUrl` names `after` in place of `before`; others stay as they are."""
    found = body.find(TC_URL)
    if found < 0:
        return body
    start = found + len(TC_URL)
    length = int.from_bytes(body[start : start + 2], "big")
    value = body[start + 2 : start + 2 + length].replace(before, after, 1)
    return body[:start] + len(value).to_bytes(2, "big") + value + body[start + 2 + length :]
