"""One event: serialized once, and framed once for each transport, for all who receive it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

import orjson

from onair_api.access.audiences import AudienceKey
from onair_api.access.target import Target

LAYOUT_FAMILY = "layout"
LIVE_FAMILY = "live"
ROOM_FAMILY = "room"
CUSTOM_FAMILY = "custom"


class Position(NamedTuple):
    """A place in one ordered source: a kind's watch, or the custom events of one user."""

    number: int
    """resourceVersion, or the number that Redis gave."""
    part: int = 0
    """Counts the events of one change."""


class Framing(Protocol):
    """Frames messages for a transport. All connections that share frames have the same one."""

    @property
    def value(self) -> str:
        """Names the transport in metrics."""

    def frame(self, message: bytes) -> bytes: ...


class Format(Enum):
    """How messages are framed here."""

    WEBSOCKET = "websocket"
    NDJSON = "ndjson"
    SSE = "sse"

    def frame(self, message: bytes) -> bytes:
        match self:
            case Format.WEBSOCKET:
                return _text_frame(message)
            case Format.NDJSON:
                return _single_line(message) + b"\n"
            case Format.SSE:
                return b"data: " + _single_line(message) + b"\n\n"


_LINE_BREAKS = {text.encode(): b"\\u%04x" % ord(text) for text in ("\u0085", "\u2028", "\u2029")}


def _single_line(message: bytes) -> bytes:
    """Escapes the line breaks of Unicode: JSON allows them, and many clients end a line there."""
    if any(raw in message for raw in _LINE_BREAKS):
        for raw, escaped in _LINE_BREAKS.items():
            message = message.replace(raw, escaped)
    return message


def _text_frame(message: bytes) -> bytes:
    """An unfragmented, unmasked text frame (RFC 6455, section 5.2)."""
    size = len(message)
    if size < 126:
        return bytes((0x81, size)) + message
    if size < 65_536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + message
    return b"\x81\x7f" + size.to_bytes(8, "big") + message


def dumps(value: Any) -> bytes:
    """Encodes JSON; payloads may hold integers of more than 64 bits, which orjson refuses."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def result_message(fields: dict[str, bytes]) -> bytes:
    """A message of the stream, not framed; the values are JSON already."""
    inner = b",".join(b'"%b":%b' % (name.encode(), value) for name, value in fields.items())
    return b'{"result":{%b}}' % inner


@dataclass(slots=True)
class Event:
    """One event as it is delivered: its JSON, who may receive it, and its place in the order of events."""

    name: str
    body: bytes
    """The Event of `interface.md` as JSON."""
    target: Target
    """With the ids above the one that it is about."""
    source: str
    """The source that orders it: a kind, or a channel of custom events."""
    position: Position
    audiences: tuple[AudienceKey, ...]
    """Keys under which its sessions are found."""
    family: str = CUSTOM_FAMILY
    session_id: str | None = None
    """Session that caused it."""
    origin: str | None = None
    """Connection that published it; only it sees the correlation id."""
    correlation_id: str | None = None
    reduced_body: bytes | None = None
    """The same without addresses, for those who may not see them; None if it has none."""
    _frames: dict[tuple[Framing, bool], bytes] = field(default_factory=dict)

    def frame_for(self, origin: str, format_: Framing, *, reduced: bool = False) -> bytes:
        """The framed message for one connection: the same bytes for all but the one that published it.

        Args:
            reduced: for a session that may not see addresses.
        """
        if self.origin == origin:
            return format_.frame(self._message(self.body, self.correlation_id))
        reduced = reduced and self.reduced_body is not None
        frame = self._frames.get((format_, reduced))
        if frame is None:
            body = self.reduced_body if reduced and self.reduced_body is not None else self.body
            frame = self._frames[format_, reduced] = format_.frame(self._message(body, None))
        return frame

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.body) + len(self.reduced_body or b"")

    def drop_frames(self) -> None:
        """Called when it was delivered: a session that reconnects needs its frame only once."""
        self._frames.clear()

    def _message(self, body: bytes, correlation_id: str | None) -> bytes:
        fields: dict[str, bytes] = {}
        if correlation_id is not None:
            fields["correlationId"] = dumps(correlation_id)
        if self.session_id is not None:
            fields["sessionId"] = dumps(self.session_id)
        return result_message({**fields, "event": body})
