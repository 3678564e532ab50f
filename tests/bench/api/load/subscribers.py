"""Many subscribers in one process, which parse as little as possible and report delays.

    python subscribers.py HOST PORT PATH SUBPROTOCOLS COUNT

Commands on standard input: `measure EVENTS` waits for that many messages with a
`sent` time on every connection and prints one JSON line: the delays in
milliseconds (p50, p99, max) and the seconds from the first to the last.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time

import uvloop

SENT = re.compile(rb'"sent":\s?([0-9.]+)')


class Measurement:
    """Counts and delays of the messages that are expected."""

    def __init__(self) -> None:
        self.expected = 0
        self.left = 0
        self.delays: list[float] = []
        self.first = self.last = 0.0
        self.done = asyncio.Event()

    def start(self, events: int, connections: int) -> None:
        self.expected = events
        self.left = events * connections
        self.delays.clear()
        self.first = 0.0
        self.done.clear()


class MeasuringSubscriber(asyncio.Protocol):
    """Finds messages by their `sent` field, not by frame: a read often cuts a frame, rarely a field."""

    def __init__(self, request: bytes, measurement: Measurement) -> None:
        self.request, self.measurement = request, measurement
        self.open = asyncio.Event()
        self.rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self.request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        data = self.rest + data
        found = None
        measurement = self.measurement
        now = time.monotonic()
        for found in SENT.finditer(data):
            if found.end() == len(data):  # the number may continue
                self.rest = data[found.start() :]
                return
            measurement.delays.append(now - float(found[1]))
            measurement.left -= 1
            if not measurement.first:
                measurement.first = now
            if measurement.left == 0:
                measurement.last = now
                measurement.done.set()
        self.rest = data[max(found.end() if found else 0, len(data) - 40) :]
        if b"subscribed" in data or b"ready" in data:
            self.open.set()


def upgrade(host: str, path: str, subprotocols: str) -> bytes:
    offered = f"Sec-WebSocket-Protocol: {subprotocols}\r\n" if subprotocols else ""
    return (
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{offered}\r\n"
    ).encode()


async def main(host: str, port: int, path: str, subprotocols: str, count: int) -> None:
    loop = asyncio.get_running_loop()
    measurement = Measurement()
    opened: list[MeasuringSubscriber] = []
    request = upgrade(host, path, subprotocols)
    for start in range(0, count, 100):
        batch = []
        for number in range(min(100, count - start)):
            source = f"127.0.0.{2 + (start + number) // 20_000}"
            _, subscriber = await loop.create_connection(
                lambda: MeasuringSubscriber(request, measurement), host, port, local_addr=(source, 0)
            )
            batch.append(subscriber)
        async with asyncio.timeout(60):
            await asyncio.gather(*(each.open.wait() for each in batch))
        opened += batch
    print(json.dumps({"open": len(opened)}), flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        measurement.start(int(line), len(opened))
        print(json.dumps({"measuring": True}), flush=True)
        async with asyncio.timeout(120):
            await measurement.done.wait()
        delays = sorted(measurement.delays)
        result = {
            "p50_ms": delays[len(delays) // 2] * 1000,
            "p99_ms": delays[len(delays) * 99 // 100] * 1000,
            "max_ms": delays[-1] * 1000,
            "seconds": measurement.last - measurement.first,
            "deliveries": len(delays),
        }
        print(json.dumps(result), flush=True)
    os._exit(0)


if __name__ == "__main__":
    host, port, path, subprotocols, count = sys.argv[1:]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(host, int(port), path, subprotocols, int(count)))
