"""gRPC-Web as text: the same frames in base64, for clients that cannot read bytes as they arrive."""

from __future__ import annotations

import base64
import binascii
import re

from starlette.types import Message, Receive, Send

from onair_api.rpc.content_types import TEXT

_PART = re.compile(rb"[^=]+={0,2}")
"""Clients may write each frame by itself, with its padding."""

MAX_PADDING = 128
"""Of 64 parts, where a call has two frames: each part takes its time, and the caller is not known yet."""

_SPACES = b" \t\n\r\v\f"

CUT = b"\0"
"""A frame that is cut, which is refused in the client's own protocol: for what is no base64."""


async def decoded(receive: Receive, limit: int) -> Receive:
    """A body in base64 as the bytes that it stands for; what is beyond the limit stays unread."""
    body, more = b"", True
    while more and len(body) <= limit * 3 // 2:
        message = await receive()
        if message["type"] != "http.request":
            break
        body += message.get("body", b"")
        more = message.get("more_body", False)
    waiting: list[Message] = [{"type": "http.request", "body": _bytes_of(body), "more_body": False}]

    async def read() -> Message:
        return waiting.pop() if waiting else await receive()

    return read


def _bytes_of(text: bytes) -> bytes:
    text = text.translate(None, _SPACES)
    if text.count(b"=") > MAX_PADDING:
        return CUT
    try:
        return b"".join(base64.b64decode(part, validate=True) for part in _PART.findall(text))
    except binascii.Error:
        return CUT


def encoding(send: Send) -> Send:
    """Sends each part of a response in base64."""

    async def write(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [each for each in message["headers"] if each[0] != b"content-type"]
            message = {**message, "headers": [*kept, (b"content-type", TEXT.encode())]}
        elif message["type"] == "http.response.body" and message.get("body"):
            message = {**message, "body": base64.b64encode(message["body"])}
        await send(message)

    return write
