"""The handshake of RTMP (Adobe RTMP 1.0, section 5.2)."""

from __future__ import annotations

import asyncio
import os

from onair_crds.session_error import SessionError

HANDSHAKE_BYTES = 1536
_VERSION = b"\x03"


async def shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: str) -> None:
    """Exchanges C0 to C2 for S0 to S2; `server` is its name in errors.

    Raises:
        SessionError: the server does not speak RTMP, or ended the connection.
    """
    writer.write(_VERSION + b"\0" * 8 + os.urandom(HANDSHAKE_BYTES - 8))
    try:
        if await reader.readexactly(1) != _VERSION:
            raise SessionError(f"{server} does not speak RTMP")
        writer.write(await reader.readexactly(HANDSHAKE_BYTES))
        await reader.readexactly(HANDSHAKE_BYTES)
    except asyncio.IncompleteReadError as error:
        raise SessionError(f"{server} ended the connection during the handshake") from error
