"""Frames in base64, with padding wherever a client ended a part."""

from __future__ import annotations

import base64

import pytest
from starlette.types import Message

from onair_api.rpc.web_text import CUT, MAX_PADDING, decoded


async def body_of(*chunks: bytes) -> bytes:
    """The bytes that a request in base64 stands for."""
    waiting: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": True} for chunk in reversed(chunks)
    ]

    async def receive() -> Message:
        return waiting.pop() if waiting else {"type": "http.request", "body": b"", "more_body": False}

    read = await decoded(receive, 1 << 20)
    return bytes((await read())["body"])


@pytest.mark.parametrize(
    "text",
    [
        (b"AAECAw==",),
        (b"AA==AQIDAA==",),
        (b"AAEC", b"Aw", b"=="),
        (b"AA EC\r\n", b"\tAw==\n"),
        (b"AAEC" * 300_000,),
        (b"AA==" * (MAX_PADDING // 2),),
    ],
)
async def test_text_is_decoded_in_the_parts_that_its_padding_makes(text: tuple[bytes, ...]) -> None:
    parts = b"".join(b"".join(text).split()).replace(b"=A", b"= A").split()
    assert await body_of(*text) == b"".join(map(base64.b64decode, parts))


@pytest.mark.parametrize("text", [b"!!!!", b"AAA", b"A===", b"=" * (MAX_PADDING + 1)])
async def test_what_is_no_base64_is_a_frame_that_is_cut(text: bytes) -> None:
    assert await body_of(text) == CUT


@pytest.mark.parametrize("text", [b"AA==" * (MAX_PADDING // 2 + 1), b"AAE=" * 393_000])
async def test_text_of_very_many_parts_is_a_frame_that_is_cut_and_is_not_decoded(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise AssertionError("a part was decoded")

    monkeypatch.setattr(base64, "b64decode", refuse)
    assert await body_of(text) == CUT
