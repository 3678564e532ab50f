"""Asks the X server and PulseAudio, in their own protocols, what only a live process answers."""

from __future__ import annotations

import asyncio
import struct
from abc import ABC, abstractmethod
from pathlib import Path

from onair_encoder.paths import PULSE_SOCKET, X_SOCKET

X_SETUP = struct.pack("<BxHHHH2x", ord("l"), 11, 0, 0, 0)
"""Little endian, protocol 11.0, no authorization."""
X_ACCEPTED = 1
X_GET_INPUT_FOCUS = struct.pack("<BxH", 43, 1)
X_MESSAGE_BYTES = 32
X_REPLY = 1
"""Replies and errors are numbered up to it, events from 2."""
PULSE_VERSION = 13
"""The first in which a client says whether it shares memory, as this one does not."""
PULSE_AUTH = 8
PULSE_HEADER = struct.Struct(">IIQI")
"""Length, channel, offset and flags."""
PULSE_CONTROL = 0xFFFFFFFF
"""The channel of commands."""
PULSE_COOKIE_BYTES = 256
NUMBER = struct.Struct(">cI")


class ServerConnection(ABC):
    """A connection that is kept, and opened again after an error."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self) -> None:
        """Returns once the server has answered; one that hangs never does.

        Raises:
            OSError, EOFError: it cannot be reached, or has closed the connection.
        """
        try:
            if self._streams is None:
                self._streams = await asyncio.open_unix_connection(self._path)
                await self._set_up(*self._streams)
            await self._exchange(*self._streams)
        except BaseException:
            # Half an answer may be on the way
            self.close()
            raise

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None

    async def _set_up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        return

    @abstractmethod
    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Sends a request and reads what answers it."""


class XConnection(ServerConnection):
    """Asks which window has the focus.

    It stays open: an X server that loses its last client starts over.
    """

    def __init__(self, path: Path = X_SOCKET) -> None:
        super().__init__(path)

    async def _set_up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(X_SETUP)
        status, words = struct.unpack("<B5xH", await reader.readexactly(8))
        await reader.readexactly(words * 4)
        if status != X_ACCEPTED:
            raise ConnectionRefusedError("the X server accepts no client")

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(X_GET_INPUT_FOCUS)
        while (await reader.readexactly(X_MESSAGE_BYTES))[0] > X_REPLY:
            pass


class PulseConnection(ServerConnection):
    """Introduces itself again and again, which takes no other request before."""

    def __init__(self, path: Path = PULSE_SOCKET) -> None:
        super().__init__(path)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        numbers = [NUMBER.pack(b"L", number) for number in (PULSE_AUTH, 0, PULSE_VERSION)]
        # Anybody is let in, whatever the cookie
        command = b"".join([*numbers, NUMBER.pack(b"x", PULSE_COOKIE_BYTES), bytes(PULSE_COOKIE_BYTES)])
        writer.write(PULSE_HEADER.pack(len(command), PULSE_CONTROL, 0, 0) + command)
        length, *_ = PULSE_HEADER.unpack(await reader.readexactly(PULSE_HEADER.size))
        await reader.readexactly(length)
