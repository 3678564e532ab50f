"""An application whose responses are all the same, and long."""

from __future__ import annotations

from starlette.types import Message, Receive, Scope, Send

from onair_api.connection.http2_streams import abortable_of
from onair_api.connection.http_connection import Abortable

CHUNK_BYTES = 16_384
CHUNKS = 64
GIVEN_UP = "/given-up"
"""Ends the path of requests whose response ends with a fault of the application."""
WHOLE = b"".join(number.to_bytes(4, "big") * (CHUNK_BYTES // 4) for number in range(CHUNKS))


class LongResponses:
    """Serves them, and keeps how far each got."""

    def __init__(self) -> None:
        self.sent_bytes: list[int] = []
        """Of each response, what it could send."""
        self.streams: list[Abortable | None] = []
        self.told: list[Message] = []
        """What came last of each request whose response has ended."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        at = len(self.sent_bytes)
        self.sent_bytes.append(0)
        self.streams.append(abortable_of(scope))
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"].endswith(GIVEN_UP):
            await send({"type": "http.response.body", "body": WHOLE[:CHUNK_BYTES], "more_body": True})
            raise ValueError
        for start in range(0, len(WHOLE), CHUNK_BYTES):
            body = WHOLE[start : start + CHUNK_BYTES]
            await send({"type": "http.response.body", "body": body, "more_body": True})
            self.sent_bytes[at] += len(body)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        self.told.append(await receive())
