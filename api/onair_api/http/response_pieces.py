"""Sends large bodies in pieces, each after its client has read most of what was sent before.

A server that is given a body at once keeps it whatever its client reads, and says that it is sent.
"""

from __future__ import annotations

from starlette.types import Message, Send

PIECE_BYTES = 262_144
"""More than is compressed in a step of the event loop."""


def in_pieces(send: Send) -> Send:
    """What sends the same messages, large bodies in several."""

    async def sent(message: Message) -> None:
        body = message.get("body", b"") if message["type"] == "http.response.body" else b""
        if len(body) <= PIECE_BYTES:
            await send(message)
            return
        for start in range(0, len(body), PIECE_BYTES):
            end = start + PIECE_BYTES
            more = end < len(body) or message.get("more_body", False)
            await send({**message, "body": body[start:end], "more_body": more})

    return sent
