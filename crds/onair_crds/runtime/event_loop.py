"""The event loop: uvloop, without closing a file descriptor twice.

aiohttp connects a socket and hands it to `create_connection`. When the peer
resets a connection before uvloop has taken note of the Python socket, libuv
closes the descriptor and the socket, when it is collected, closes it again: by
then it is somebody else's. An API server that restarts does this within
seconds, and streams fall silent or the process aborts. A socket whose
connection failed is therefore detached: its descriptor is libuv's to close.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import uvloop


class Loop(uvloop.Loop):
    async def create_connection(self, *args: Any, **options: Any) -> Any:
        try:
            return await super().create_connection(*args, **options)
        except BaseException:
            if sock := options.get("sock"):
                sock.detach()
            raise


def run(main: Coroutine[Any, Any, None]) -> None:
    """Runs a program to its end."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(main)
