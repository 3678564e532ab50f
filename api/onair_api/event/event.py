"""One event, serialised once for all who receive it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import orjson

from onair_api.access.audiences import CUSTOM_FAMILY, Key
from onair_api.access.target import Target


class Position(NamedTuple):
    """Where in one ordered source an event stands: a kind's watch, or the custom events of one user."""

    number: int
    """resourceVersion, or the number that Redis gave."""
    part: int = 0
    """Counts the events of one change."""


class Format(Enum):
    """How messages are framed."""

    WEBSOCKET = "websocket"
    NDJSON = "ndjson"
    SSE = "sse"

    def frame(self, message: bytes) -> bytes:
        match self:
            case Format.WEBSOCKET:
                return _text_frame(message)
            case Format.NDJSON:
                return _one_line(message) + b"\n"
            case Format.SSE:
                return b"data: " + _one_line(message) + b"\n\n"


_LINE_BREAKS = {text.encode(): b"\\u%04x" % ord(text) for text in ("\u0085", "\u2028", "\u2029")}


def _one_line(message: bytes) -> bytes:
    """JSON may hold the line breaks of Unicode as they are; many a client ends a line there."""
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
    """JSON; payloads may hold integers above 64 bits, which orjson has not."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def message(fields: dict[str, bytes]) -> bytes:
    """A streamed message; the values are JSON already."""
    inner = b",".join(b'"%b":%b' % (name.encode(), value) for name, value in fields.items())
    return b'{"result":{%b}}' % inner


@dataclass(slots=True)
class Event:
    name: str
    body: bytes
    """The Event of `interface.md` as JSON."""
    target: Target
    """Completed upwards."""
    source: str
    """What orders it: a kind, or the channel of custom events."""
    position: Position
    audiences: tuple[Key, ...]
    """Under which keys its sessions are found."""
    family: str = CUSTOM_FAMILY
    session_id: str | None = None
    """Of whom caused it."""
    origin: str | None = None
    """The connection that published it, and only that, sees the correlation id."""
    correlation_id: str | None = None
    _frames: dict[Format, bytes] = field(default_factory=dict)

    def frame(self, format_: Format) -> bytes:
        """What every session but the publisher's receives."""
        frame = self._frames.get(format_)
        if frame is None:
            frame = self._frames[format_] = format_.frame(self._message(None))
        return frame

    def delivered(self) -> None:
        """Whoever asks from here on comes back after a while: the frames are not kept for them."""
        self._frames.clear()

    def frame_for_origin(self, format_: Format) -> bytes:
        return format_.frame(self._message(self.correlation_id))

    def _message(self, correlation_id: str | None) -> bytes:
        fields: dict[str, bytes] = {}
        if correlation_id is not None:
            fields["correlationId"] = dumps(correlation_id)
        if self.session_id is not None:
            fields["sessionId"] = dumps(self.session_id)
        return message({**fields, "event": self.body})
