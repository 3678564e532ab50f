"""The protocol between a publisher and the process of a room: packets one way, JSON lines the other.

The process reads settings first and then FLV packets from its standard input; its end
asks for a proper end of the stream. Secrets go this way and no other.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass

from onair_crds.contract.program import ProgramRtc
from onair_crds.media.flv import Packet
from onair_crds.session_error import SessionError

_HEAD = struct.Struct(">BQI")
_SETTINGS = 0
MAX_BODY_BYTES = 32 * 2**20


def settings_message(rtc: ProgramRtc) -> bytes:
    """Encodes the first message to the process: which room to publish into."""
    body = rtc.wire().encode()
    return _HEAD.pack(_SETTINGS, 0, len(body)) + body


def packet_message(packet: Packet) -> bytes:
    """Encodes a packet of the programme for the process."""
    return _HEAD.pack(packet.type, packet.timestamp_ms, len(packet.body)) + packet.body


async def read_settings(reader: asyncio.StreamReader) -> ProgramRtc:
    """The first message."""
    _, _, size = _HEAD.unpack(await reader.readexactly(_HEAD.size))
    return ProgramRtc.model_validate_json(await reader.readexactly(min(size, MAX_BODY_BYTES)))


async def read_packets(reader: asyncio.StreamReader) -> AsyncIterator[Packet]:
    """All others, until the publisher ends the pipe."""
    while True:
        try:
            type_, timestamp_ms, size = _HEAD.unpack(await reader.readexactly(_HEAD.size))
            yield Packet(type_, timestamp_ms, await reader.readexactly(min(size, MAX_BODY_BYTES)))
        except asyncio.IncompleteReadError:
            return


@dataclass(frozen=True)
class Joined:
    """The room is open to media."""


@dataclass(frozen=True)
class SessionProgress:
    """How far it is; totals of the session."""

    video_bytes: int = 0
    """RTP payload of the video that was sent."""
    sent_bytes: int = 0
    """All that was sent, with headers."""
    responses: int = 0
    """Packets that came back from the server: acknowledgements and reports."""
    round_trip_ms: float = 0.0
    frames_sent: int = 0
    frames_dropped: int = 0
    held_s: float = 0.0
    """For how long most frames have not left though they were due."""


@dataclass(frozen=True)
class Gone:
    """The session could not be opened or has ended; the text is that of a `SessionError`."""

    why: str
    permanent: bool = False
    displaced: bool = False

    @classmethod
    def because(cls, error: SessionError) -> Gone:
        return cls(str(error), error.permanent, error.displaced)

    @property
    def error(self) -> SessionError:
        return SessionError(self.why, permanent=self.permanent, displaced=self.displaced)


Message = Joined | SessionProgress | Gone
_KINDS: dict[str, type[Message]] = {kind.__name__: kind for kind in (Joined, SessionProgress, Gone)}


def encode_message(message: Message) -> bytes:
    """A line of JSON."""
    return json.dumps({"kind": type(message).__name__, **asdict(message)}).encode() + b"\n"


def decode_message(line: bytes) -> Message:
    """Decodes a line of the process.

    Raises:
        ValueError: it is no such line.
    """
    try:
        members = json.loads(line)
        return _KINDS[members.pop("kind")](**members)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not a message of a room") from error
