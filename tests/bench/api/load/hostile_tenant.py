"""Everything at once that one token can do to a facade; each request as often as it is let.

    python hostile_tenant.py PORT TOKEN STREAMS WILDCARDS

Opens streams that take everything, a hundred of which ask for so many wildcard subscriptions beside, and
prints a line. Then until it is ended: publishes events to all of them, changes a project with a quarter of a
megabyte of metadata four times a second, and reads foreign ids as fast as the answers come.
"""

from __future__ import annotations

import asyncio
import collections
import json
import os
import sys
from functools import partial

import httpx
import uvloop

METADATA_BYTES = 250_000
METADATA_PER_S = 4
PUBLISHED = {"name": "flood", "payload": {"text": "x" * 1000}}


def masked(message: bytes) -> bytes:
    """A text frame of a client (RFC 6455), masked with zeros."""
    size = len(message)
    length = bytes((0x80 | size,)) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return b"\x81" + length + b"\0\0\0\0" + message


def itself(stream: HostileStream) -> HostileStream:
    return stream


class HostileStream(asyncio.Protocol):
    """Asks for its subscriptions, and throws away what it gets."""

    def __init__(self, request: bytes, wildcards: list[str]) -> None:
        self._request, self._wildcards = request, wildcards
        self.open: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.received = 0
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        transport.write(self._request)  # type: ignore[attr-defined]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self.open.done():
            return
        self.open.set_result(data.startswith(b"HTTP/1.1 101"))
        asked = [{"subscribe": {"name": name}} for name in self._wildcards]
        frames = b"".join(masked(json.dumps(each).encode()) for each in asked)
        self._transport.write(frames)  # type: ignore[attr-defined]


async def main(port: int, token: str, streams: int, wildcards: int) -> None:
    loop = asyncio.get_running_loop()
    request = (
        f"GET /event/v2/stream?subscribe.name=* HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Connection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    ).encode()
    names = [f"*:{number:03}:*:{'a' * 40}" for number in range(wildcards)]
    answers: collections.Counter[str] = collections.Counter()
    base = f"http://127.0.0.1:{port}"
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=base,
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
        limits=limits,
        timeout=60,
    ) as http:
        collection = (await http.post("/live/v2/collection", json={})).json()["collection"]["collectionId"]
        path = f"/live/v2/collection/{collection}/project"
        project = (await http.post(path, json={})).json()["project"]["projectId"]
        opened: list[HostileStream] = []
        for start in range(0, streams, 100):
            # Who asks too often loses the stream: most only listen
            asked = names if start + 100 >= streams else []
            made = [HostileStream(request, asked) for _ in range(min(100, streams - start))]
            for each in made:
                await loop.create_connection(partial(itself, each), "127.0.0.1", port)
            async with asyncio.timeout(60):
                assert all([await each.open for each in made])
            opened += made
        print(json.dumps({"open": streams}), flush=True)

        async def ask(what: str, method: str, url: str, body: object = None) -> None:
            response = await http.request(method, url, json=body)
            answers[f"{what} {response.status_code}"] += 1
            if response.status_code == 429:
                await asyncio.sleep(0.05)

        async def publish() -> None:
            while True:
                await ask("publish", "POST", "/event/v2/publish", PUBLISHED)

        async def enlarge() -> None:
            number = 0
            while True:
                number += 1
                body = {"metadata": {"text": f"{number:08}" + "x" * METADATA_BYTES}}
                await asyncio.gather(
                    ask("metadata", "PATCH", f"{path}/{project}", body), asyncio.sleep(1 / METADATA_PER_S)
                )

        async def pry() -> None:
            while True:
                await ask("foreign", "GET", f"/live/v2/collection/{collection}/project/another")

        working = [asyncio.create_task(each()) for each in (publish, publish, enlarge, pry, pry)]
        await loop.run_in_executor(None, sys.stdin.readline)
        for task in working:
            task.cancel()
    answers["streams that were ended"] = sum(each.ended for each in opened)
    answers["megabytes of events"] = sum(each.received for each in opened) >> 20
    print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    os.nice(19)  # its computer is another one
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
