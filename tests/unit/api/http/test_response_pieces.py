"""Bodies that are sent in pieces."""

from __future__ import annotations

import pytest
from starlette.types import Message

from onair_api.http.response_pieces import PIECE_BYTES, in_pieces


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 5 * PIECE_BYTES])
@pytest.mark.parametrize("more", [True, False])
async def test_a_body_is_the_same_in_pieces(size: int, more: bool) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    await in_pieces(send)({"type": "http.response.start", "status": 200})
    await in_pieces(send)({"type": "http.response.body", "body": body, "more_body": more})
    start, *pieces = sent
    assert start["type"] == "http.response.start"
    assert b"".join(each["body"] for each in pieces) == body
    assert all(len(each["body"]) <= PIECE_BYTES for each in pieces)
    assert [each["more_body"] for each in pieces] == [True] * (len(pieces) - 1) + [more]
