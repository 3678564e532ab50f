"""What compresses is there before it is needed."""

from __future__ import annotations

import subprocess
import sys

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
