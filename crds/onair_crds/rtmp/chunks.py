"""RTMP messages to and from chunks (Adobe RTMP 1.0, section 5.3)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

SET_CHUNK_SIZE, ABORT, ACKNOWLEDGEMENT, USER_CONTROL, WINDOW_ACK_SIZE, SET_PEER_BANDWIDTH = 1, 2, 3, 4, 5, 6
COMMAND_AMF3, DATA_AMF0, COMMAND_AMF0 = 17, 18, 20
OUT_CHUNK_SIZE = 65536
_EXTENDED = 0xFFFFFF
MAX_MESSAGE = 1024 * 1024
"""Bytes. A server that is published to sends commands and no media."""
MAX_STREAMS = 64
"""Chunk streams of a server: each may hold a message that is not complete."""


@dataclass(frozen=True, slots=True)
class RtmpMessage:
    """One message, whole."""

    type: int
    stream: int
    timestamp_ms: int
    body: bytes


def message_chunks(
    chunk_stream: int,
    type_: int,
    stream: int,
    timestamp_ms: int,
    body: bytes,
    chunk_size: int = OUT_CHUNK_SIZE,
) -> list[bytes]:
    """The chunks of one message, with a full header, as pieces to be written in order."""
    timestamp_ms &= 0xFFFFFFFF
    short = min(timestamp_ms, _EXTENDED)
    extension = struct.pack(">I", timestamp_ms) if short == _EXTENDED else b""
    header = (
        bytes((chunk_stream,))
        + short.to_bytes(3, "big")
        + len(body).to_bytes(3, "big")
        + bytes((type_,))
        + struct.pack("<I", stream)
        + extension
    )
    if len(body) <= chunk_size:
        return [header, body]
    pieces = [header, body[:chunk_size]]
    following = bytes((0xC0 | chunk_stream,)) + extension
    for start in range(chunk_size, len(body), chunk_size):
        pieces += [following, body[start : start + chunk_size]]
    return pieces


class ChunkError(ValueError):
    """The peer's bytes are not RTMP chunks."""


@dataclass(slots=True)
class _ChunkStream:
    timestamp_ms: int = 0
    delta_ms: int = 0
    length: int = 0
    type: int = 0
    stream: int = 0
    extended: bool = False
    body: bytearray = field(default_factory=bytearray)


class ChunkReader:
    """Feed it bytes, take whole messages out."""

    def __init__(self, max_message: int = MAX_MESSAGE) -> None:
        """
        Args:
            max_message: the largest message that is taken, in bytes.
        """
        self.chunk_size = 128
        self.taken = 0
        """Chunks so far: each takes time, also one that brings a single byte or none."""
        self._max_message = max_message
        self._buffer = bytearray()
        self._streams: dict[int, _ChunkStream] = {}

    def feed(self, data: bytes) -> Iterator[RtmpMessage]:
        """The messages that are complete now.

        Raises:
            ChunkError: a message is larger than any that a server sends, or than its header says.
        """
        self._buffer += data
        while True:
            taken, message = self._chunk()
            if not taken:
                return
            del self._buffer[:taken]
            self.taken += 1
            if message:
                if message.type == SET_CHUNK_SIZE and len(message.body) >= 4:
                    self.chunk_size = max(1, int.from_bytes(message.body[:4], "big") & 0x7FFFFFFF)
                yield message

    def _stream(self, number: int) -> _ChunkStream:
        if number not in self._streams and len(self._streams) >= MAX_STREAMS:
            raise ChunkError("too many chunk streams")
        return self._streams.setdefault(number, _ChunkStream())

    def _chunk(self) -> tuple[int, RtmpMessage | None]:
        """Length of the next chunk, 0 if it is not complete, and the message that it completes."""
        buffer = self._buffer
        if (basic := _basic_header(buffer)) is None:
            return 0, None
        kind, number, at = basic
        header = (11, 7, 3, 0)[kind]
        if len(buffer) < at + header:
            return 0, None
        stream = self._stream(number)
        parsed = _ChunkStream(**{name: getattr(stream, name) for name in _ChunkStream.__slots__})
        if kind < 3:
            time = int.from_bytes(buffer[at : at + 3], "big")
            parsed.extended = time == _EXTENDED
            if kind < 2:
                parsed.length = int.from_bytes(buffer[at + 3 : at + 6], "big")
                parsed.type = buffer[at + 6]
            if kind == 0:
                parsed.stream = int.from_bytes(buffer[at + 7 : at + 11], "little")
            at += header
            if parsed.extended:
                if len(buffer) < at + 4:
                    return 0, None
                time = int.from_bytes(buffer[at : at + 4], "big")
                at += 4
            parsed.delta_ms = 0 if kind == 0 else time
            parsed.timestamp_ms = time if kind == 0 else stream.timestamp_ms + time
        elif parsed.extended:
            at += 4
        if parsed.length > self._max_message:
            raise ChunkError(f"a message of {parsed.length} bytes")
        if parsed.length < len(stream.body):
            raise ChunkError("a message that is shorter than what has come of it")
        size = min(self.chunk_size, parsed.length - len(stream.body))
        if len(buffer) < at + size:
            return 0, None
        if kind == 3 and not stream.body:
            parsed.timestamp_ms = stream.timestamp_ms + stream.delta_ms
        parsed.body = stream.body
        parsed.body += buffer[at : at + size]
        self._streams[number] = parsed
        if len(parsed.body) < parsed.length:
            return at + size, None
        message = RtmpMessage(parsed.type, parsed.stream, parsed.timestamp_ms, bytes(parsed.body))
        parsed.body = bytearray()
        return at + size, message


def _basic_header(buffer: bytearray) -> tuple[int, int, int] | None:
    """Kind and chunk stream of the next chunk, and how many bytes say so; None where some are missing."""
    if not buffer:
        return None
    kind, number = buffer[0] >> 6, buffer[0] & 0x3F
    if number >= 2:
        return kind, number, 1
    if len(buffer) < 2 + number:
        return None
    high = buffer[2] * 256 if number else 0
    return kind, 64 + buffer[1] + high, 2 + number
