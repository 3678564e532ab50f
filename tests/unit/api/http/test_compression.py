"""Compression: there before it is needed, whole, and in turn with others'."""

from __future__ import annotations

import asyncio
import gzip
import os
import random
import subprocess
import sys
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from onair_api.http.compression import INLINE_BYTES, SLICE_BYTES, Compression

LOADED = """
import asyncio, sys
from onair_api.http import compression

async def main():
    before = set(sys.modules)
    async def send(message):
        pass
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"a/b")]})
        await send({"type": "http.response.body", "body": b"x" * 1_000_000})
    scope = {"type": "http", "path": "/", "headers": [(b"accept-encoding", b"gzip")]}
    await compression.Compression(app)(scope, None, send)
    print(sorted(set(sys.modules) - before))

asyncio.run(main())
"""


def test_the_first_large_response_loads_nothing() -> None:
    """40 ms of the event loop, in which nobody else was served."""
    said = subprocess.run(
        [sys.executable, "-c", LOADED], check=True, capture_output=True, text=True, timeout=60
    )
    assert said.stdout.strip() == "[]"


def served(body: bytes) -> Any:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"a/b")]})
        await send({"type": "http.response.body", "body": body})

    return app


async def compressed(compression: Compression, body: bytes) -> bytes:
    """A body as a client gets it that accepts gzip."""
    sent: list[bytes] = []

    async def receive() -> Message:
        raise AssertionError("no body of the request is read")

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))

    compression._app = served(body)
    scope = {"type": "http", "path": "/", "headers": [(b"accept-encoding", b"gzip")]}
    await compression(scope, receive, send)
    return b"".join(sent)


@pytest.mark.parametrize("size", [INLINE_BYTES, INLINE_BYTES + 1, SLICE_BYTES, 5 * SLICE_BYTES + 1])
async def test_a_body_is_whole_whatever_slices_it_has(size: int) -> None:
    body = random.Random(size).randbytes(size)
    assert gzip.decompress(await compressed(Compression(served(b"")), body)) == body


async def test_a_large_body_does_not_wait_for_larger_ones_of_others() -> None:
    compression = Compression(served(b""))
    ended: list[str] = []

    async def one(name: str, body: bytes) -> None:
        await compressed(compression, body)
        ended.append(name)

    larger = [asyncio.create_task(one("larger", bytes(200 * SLICE_BYTES))) for _ in range(4)]
    await asyncio.sleep(0)
    await one("large", bytes(2 * SLICE_BYTES))
    await asyncio.gather(*larger)
    assert ended == ["large", *["larger"] * 4]


async def test_where_threads_may_not_yield_they_compress(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refused)
    monkeypatch.setattr(os, "nice", refused)
    body = bytes(2 * SLICE_BYTES)
    assert gzip.decompress(await compressed(Compression(served(b"")), body)) == body
