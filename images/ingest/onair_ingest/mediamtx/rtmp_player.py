"""Plays a stream of this gateway's MediaMTX, by RTMP over the pod's loopback (Adobe RTMP 1.0)."""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote, urlsplit

from onair_crds.rtmp import amf, chunks
from onair_crds.rtmp.chunks import ChunkReader, RtmpMessage, message_chunks

_HANDSHAKE_BYTES, _VERSION = 1536, b"\x03"
_CONTROL, _COMMAND = 2, 3
_CONNECT, _CREATE, _PLAY = 1, 2, 3
"""Transactions."""
_ACK_EVERY = 512 * 1024
MAX_FRAME = 8 * 2**20
"""Bytes: no access unit is larger."""
OPEN_TIMEOUT_S = 3.0
"""For the connection, for the handshake, and for the responses up to that of play."""
CODECS = ["hvc1", "av01", "vp09", "Opus"]
"""Beside H.264 and AAC: of enhanced RTMP."""
_AUDIO, _VIDEO = 8, 9
_RTMP_PORT = 1935


class PlayError(Exception):
    """The server does not play the stream, or ended it; no path in the text."""


@dataclass(frozen=True)
class MediaServer:
    """Where MediaMTX plays streams by RTMP, and the password that admits this process."""

    host: str
    port: int
    password: str = field(default="", repr=False)

    @classmethod
    def at(cls, url: str, password: str) -> Self:
        """Returns the server at a url.

        Args:
            url: such as `rtmp://127.0.0.1:1935`.
        """
        parts = urlsplit(url)
        return cls(parts.hostname or "", parts.port or _RTMP_PORT, password)

    @property
    def authority(self) -> str:
        """Host and port as a url has them."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def query(self) -> str:
        """What is added to a stream's name."""
        return f"?user=gateway&pass={quote(self.password, safe='')}" if self.password else ""


class RtmpPlayer:
    """One connection that plays one path."""

    def __init__(self, server: MediaServer, path: str) -> None:
        self._server, self._path = server, path
        self._chunks = ChunkReader(MAX_FRAME)
        self._received = self._acknowledged = 0
        self._is_played = False
        """Whether the server has agreed to play it."""

    async def play(self, take: Callable[[RtmpMessage], None]) -> None:
        """Gives every audio and video message to `take` as it arrives; returns when the stream ends.

        Raises:
            PlayError: the server refused, or is unreachable, or what it sends is not RTMP.
        """
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                reader, writer = await asyncio.open_connection(self._server.host, self._server.port)
        except (OSError, TimeoutError) as error:
            raise PlayError(f"the media server is unreachable: {type(error).__name__}") from error
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                await _shake_hands(reader, writer)
            async with asyncio.timeout(OPEN_TIMEOUT_S) as opening:
                self._connect(writer)
                while data := await reader.read(65536):
                    for message in self._feed(data, writer):
                        take(message)
                    if self._is_played:
                        opening.reschedule(None)
        except TimeoutError as error:
            raise PlayError("the media server does not respond in time") from error
        except (OSError, asyncio.IncompleteReadError) as error:
            raise PlayError(f"the media server ended the connection: {type(error).__name__}") from error
        except ValueError as error:
            raise PlayError(f"the media server's stream is damaged: {error}") from error
        finally:
            writer.transport.abort()

    def _connect(self, writer: asyncio.StreamWriter) -> None:
        app = self._path.rpartition("/")[0]
        address = f"rtmp://{self._server.authority}/{app}"
        size = struct.pack(">I", chunks.OUT_CHUNK_SIZE)
        writer.writelines(message_chunks(_CONTROL, chunks.SET_CHUNK_SIZE, 0, 0, size))
        properties = {
            "app": app,
            "flashVer": "LNX 9,0,124,2",
            "tcUrl": address,
            "fpad": False,
            "fourCcList": CODECS,
        }
        _command(writer, 0, "connect", _CONNECT, properties)

    def _feed(self, data: bytes, writer: asyncio.StreamWriter) -> list[RtmpMessage]:
        media = []
        self._received += len(data)
        for message in self._chunks.feed(data):
            if message.type in (_AUDIO, _VIDEO):
                self._is_played = True
                media.append(message)
            else:
                self._control(message, writer)
        if self._received - self._acknowledged >= _ACK_EVERY:
            self._acknowledged = self._received
            body = struct.pack(">I", self._received & 0xFFFFFFFF)
            writer.writelines(message_chunks(_CONTROL, chunks.ACKNOWLEDGEMENT, 0, 0, body))
        return media

    def _control(self, message: RtmpMessage, writer: asyncio.StreamWriter) -> None:
        match message.type:
            case chunks.USER_CONTROL if message.body[:2] == b"\0\x06":
                pong = b"\0\x07" + message.body[2:6]
                writer.writelines(message_chunks(_CONTROL, chunks.USER_CONTROL, 0, 0, pong))
            case chunks.COMMAND_AMF0:
                self._response(amf.decode(message.body), writer)

    def _response(self, values: list[Any], writer: asyncio.StreamWriter) -> None:
        match values:
            case ["_result", float() as transaction, *_] if transaction == _CONNECT:
                _command(writer, 0, "createStream", _CREATE, None)
            case ["_result", float() as transaction, *_, float() as stream] if transaction == _CREATE:
                if not 0 <= stream < 2**32:
                    raise PlayError("the media server names no stream")
                name = self._path.rpartition("/")[2] + self._server.query
                _command(writer, int(stream), "play", _PLAY, None, name)
            case ["_error", *_]:
                raise PlayError("the media server refused to play the stream")
            case ["onStatus", *_, dict() as status] if status.get("level") == "error":
                raise PlayError("the media server refused to play the stream")
            case ["onStatus", *_]:
                self._is_played = True


def _command(writer: asyncio.StreamWriter, stream: int, name: str, transaction: int, *values: object) -> None:
    body = amf.encode(name, transaction, *values)
    writer.writelines(message_chunks(_COMMAND, chunks.COMMAND_AMF0, stream, 0, body))


async def _shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(_VERSION + b"\0" * 8 + os.urandom(_HANDSHAKE_BYTES - 8))
    if await reader.readexactly(1) != _VERSION:
        raise PlayError("the media server does not speak RTMP")
    writer.write(await reader.readexactly(_HANDSHAKE_BYTES))
    await reader.readexactly(_HANDSHAKE_BYTES)
