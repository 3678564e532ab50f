"""Decodes FLV incrementally: a tag's body is what an RTMP message carries (Adobe FLV 10.1, annex E)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

AUDIO, VIDEO, SCRIPT = 8, 9, 18
_HEADER = 9 + 4
_TAG_HEADER = 11
_AVC, _AAC = 7, 10
_CONFIGURATION, _CODED_FRAME = b"\0", b"\1"
_WRAP_MS = 1 << 31
"""Encoders write times of 31 bits, which begin again after 24.8 days."""


class FlvError(ValueError):
    """The bytes are not FLV."""


@dataclass(frozen=True, slots=True)
class Packet:
    """One FLV tag. `timestamp_ms` is the decoding time."""

    type: int
    timestamp_ms: int
    body: bytes

    @property
    def keyframe(self) -> bool:
        """Whether decoding can begin with it; ffmpeg marks an end of sequence as a key frame too."""
        return self.type == VIDEO and self.body[0] >> 4 == 1 and self.body[1:2] == _CODED_FRAME

    @property
    def header(self) -> bool:
        """Whether it holds a codec's configuration rather than media."""
        if self.type == VIDEO:
            return self.body[0] & 0x0F == _AVC and self.body[1:2] == _CONFIGURATION
        return self.type == AUDIO and self.body[0] >> 4 == _AAC and self.body[1:2] == _CONFIGURATION


class FlvReader:
    """Takes bytes as they come, yields whole packets."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._started = False
        self._last_ms = 0

    def feed(self, data: bytes) -> Iterator[Packet]:
        """The packets that are complete now.

        Raises:
            FlvError: the stream does not begin with an FLV header.
        """
        self._buffer += data
        if not self._started:
            if len(self._buffer) < _HEADER:
                return
            if self._buffer[:3] != b"FLV":
                raise FlvError("no FLV header")
            del self._buffer[:_HEADER]
            self._started = True
        position = 0
        buffer = self._buffer
        while len(buffer) - position >= _TAG_HEADER:
            size = int.from_bytes(buffer[position + 1 : position + 4], "big")
            end = position + _TAG_HEADER + size
            if len(buffer) < end + 4:
                break
            time = int.from_bytes(buffer[position + 4 : position + 7], "big") | buffer[position + 7] << 24
            if size:
                body = bytes(buffer[position + _TAG_HEADER : end])
                yield Packet(buffer[position] & 0x1F, self._unwrapped_ms(time), body)
            position = end + 4
        del buffer[:position]

    def _unwrapped_ms(self, time: int) -> int:
        """The time nearest to the last one that a tag's may mean; never one before the stream began."""
        step = (time - self._last_ms) % _WRAP_MS
        if step >= _WRAP_MS // 2:
            step -= _WRAP_MS
        unwrapped = self._last_ms + step
        self._last_ms = unwrapped if unwrapped >= 0 else time
        return self._last_ms


def encode_file(packets: Iterable[Packet]) -> bytes:
    """A whole FLV file with these packets, for a program that reads one."""
    return b"FLV\x01\x05\0\0\0\x09\0\0\0\0" + b"".join(map(_tag, packets))


def _tag(packet: Packet) -> bytes:
    time, body = packet.timestamp_ms, packet.body
    head = bytes((packet.type,)) + len(body).to_bytes(3, "big") + (time & 0xFFFFFF).to_bytes(3, "big")
    return head + bytes((time >> 24 & 0xFF, 0, 0, 0)) + body + (_TAG_HEADER + len(body)).to_bytes(4, "big")
