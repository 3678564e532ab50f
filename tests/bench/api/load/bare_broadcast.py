"""The baseline for event fan-out: `websockets` with its own `broadcast`, and nothing else.

    python bare_broadcast.py PORT

Every connection to /in is a publisher, every other one a subscriber.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve

SUBSCRIBERS: set[ServerConnection] = set()


async def handle(connection: ServerConnection) -> None:
    if connection.request and connection.request.path == "/in":
        async for message in connection:
            broadcast(SUBSCRIBERS, message)
        return
    SUBSCRIBERS.add(connection)
    await connection.send("ready")
    try:
        await connection.wait_closed()
    finally:
        SUBSCRIBERS.discard(connection)


async def main(port: int) -> None:
    async with serve(handle, "127.0.0.1", port, compression=None) as server:
        await server.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(int(sys.argv[1])))
