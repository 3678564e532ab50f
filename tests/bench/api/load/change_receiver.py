"""Receives the same changes from a bare watch of the API server and from an event stream.

    python change_receiver.py KUBECONFIG NAMESPACE VERSION STREAM_PORT TOKEN

Each change carries its number and the time at which it was sent, in the `metadata` of a
project. A line on standard input is the number of changes to wait for; the program then
prints one JSON line with the delays of both, in milliseconds. The watch begins at a resource version.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop
import yaml

CHANGE = re.compile(rb'"bench":"([0-9]+)-([0-9.]+)"')


class DelayRecorder(asyncio.Protocol):
    def __init__(self, request: bytes) -> None:
        self.request = request
        self.delays: dict[int, float] = {}
        self.rest = b""
        self.first_data = asyncio.Event()
        self.changed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self.request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        data = self.rest + data
        found = None
        for found in CHANGE.finditer(data):
            self.delays.setdefault(int(found[1]), (now - float(found[2])) * 1000)
        self.rest = data[max(found.end() if found else 0, len(data) - 60) :]
        self.first_data.set()
        self.changed.set()

    async def wait_for(self, count: int) -> list[float]:
        """Waits for this many changes; returns their delays in milliseconds, sorted."""
        while len(self.delays) < count:
            self.changed.clear()
            async with asyncio.timeout(30):
                await self.changed.wait()
        delays = sorted(self.delays.values())
        self.delays.clear()
        return delays


async def main(config: Any, namespace: str, version: str, port: int, token: str) -> None:
    loop = asyncio.get_running_loop()
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cafile=cluster["certificate-authority"])
    context.load_cert_chain(user["client-certificate"], user["client-key"])
    server = urlsplit(cluster["server"])
    query = f"watch=true&timeoutSeconds=600&resourceVersion={version}"
    path = f"/apis/onair.dev/v1alpha1/namespaces/{namespace}/projects?{query}"
    watch_request = f"GET {path} HTTP/1.1\r\nHost: {server.hostname}\r\nAccept: application/json\r\n\r\n"
    stream_request = (
        "GET /event/v2/stream?subscribe.name=*PROJECT*UPDATE HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    )
    _, watch = await loop.create_connection(
        lambda: DelayRecorder(watch_request.encode()),
        server.hostname,
        server.port,
        ssl=context,
        server_hostname=server.hostname,
    )
    _, stream = await loop.create_connection(
        lambda: DelayRecorder(stream_request.encode()), "127.0.0.1", port
    )
    await asyncio.gather(watch.first_data.wait(), stream.first_data.wait())
    print(json.dumps({"open": 2}), flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps({"measuring": True}), flush=True)
        both = await asyncio.gather(watch.wait_for(int(line)), stream.wait_for(int(line)))
        print(json.dumps({"watch": both[0], "stream": both[1]}), flush=True)


if __name__ == "__main__":
    kubeconfig, namespace, version, port, token = sys.argv[1:]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(yaml.safe_load(Path(kubeconfig).read_text()), namespace, version, int(port), token))
