"""AMF0, as far as RTMP commands need it (Adobe AMF0 specification, 2007)."""

from __future__ import annotations

import struct
from typing import Any

AmfObject = dict[str, Any]
"""The members of an object, by name."""

MAX_DEPTH = 16
"""Objects within objects: no command nests deeper, and each level takes of the stack."""
_NUMBER, _BOOLEAN, _STRING, _OBJECT, _NULL, _END, _LIST, _LONG_STRING = 0, 1, 2, 3, 5, 9, 10, 12


class AmfError(ValueError):
    """The bytes are not AMF0 of the kinds that commands use."""


def encode(*values: object) -> bytes:
    """The AMF0 form of numbers, booleans, strings, None, lists and dicts."""
    return b"".join(_encode(value) for value in values)


def _encode(value: object) -> bytes:
    match value:
        case bool():
            return bytes((_BOOLEAN, value))
        case int() | float():
            return bytes((_NUMBER,)) + struct.pack(">d", value)
        case str():
            text = value.encode()
            if len(text) > 0xFFFF:
                return bytes((_LONG_STRING,)) + struct.pack(">I", len(text)) + text
            return bytes((_STRING,)) + _short(text)
        case None:
            return bytes((_NULL,))
        case dict():
            members = b"".join(_short(str(k).encode()) + _encode(v) for k, v in value.items())
            return bytes((_OBJECT,)) + members + b"\0\0" + bytes((_END,))
        case list():
            items = b"".join(_encode(item) for item in value)
            return bytes((_LIST,)) + struct.pack(">I", len(value)) + items
        case _:
            raise TypeError(f"AMF0 has no form for {type(value).__name__}")


def _short(text: bytes) -> bytes:
    return struct.pack(">H", len(text)) + text


def decode(data: bytes) -> list[Any]:
    """All values in the data.

    Raises:
        AmfError: they are cut short, of an unknown kind, or nested too deeply.
    """
    values, position = [], 0
    try:
        while position < len(data):
            value, position = _decode(data, position, 0)
            values.append(value)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise AmfError("AMF0 data is cut short") from error
    return values


def _decode(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    if depth > MAX_DEPTH:
        raise AmfError("AMF0 data is nested too deeply")
    kind, at = data[at], at + 1
    match kind:
        case 0:
            return struct.unpack_from(">d", data, at)[0], at + 8
        case 1:
            return bool(data[at]), at + 1
        case 2:
            return _text(data, at)
        case 3:
            return _members(data, at, depth + 1)
        case 5 | 6:
            return None, at
        case 8:
            return _members(data, at + 4, depth + 1)
        case 10:
            return _items(data, at, depth + 1)
        case 11:
            return struct.unpack_from(">d", data, at)[0], at + 10
        case 12:
            (size,) = struct.unpack_from(">I", data, at)
            return data[at + 4 : at + 4 + size].decode(), at + 4 + size
        case _:
            raise AmfError(f"AMF0 kind {kind} is not known")


def _text(data: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">H", data, at)
    if at + 2 + size > len(data):
        raise AmfError("AMF0 data is cut short")
    return data[at + 2 : at + 2 + size].decode(), at + 2 + size


def _members(data: bytes, at: int, depth: int) -> tuple[AmfObject, int]:
    found: AmfObject = {}
    while True:
        name, at = _text(data, at)
        if not name and data[at] == _END:
            return found, at + 1
        found[name], at = _decode(data, at, depth)


def _items(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    (count,) = struct.unpack_from(">I", data, at)
    at += 4
    found = []
    for _ in range(count):
        value, at = _decode(data, at, depth)
        found.append(value)
    return found, at
