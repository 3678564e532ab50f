"""Starts a process, and leaves nothing of one that cannot be waited for."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from asyncio.subprocess import Process, SubprocessStreamProtocol
from typing import Any

CONNECT_S = 5.0
REAP_S = 0.01
_LINE_LIMIT = 2**16


class _Protocol(SubprocessStreamProtocol):
    """Knows its process also where asyncio does not give it out."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(_LINE_LIMIT, loop)
        self._process: asyncio.Future[asyncio.SubprocessTransport] = loop.create_future()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._process.set_result(transport)

    async def discard(self) -> None:
        """Kills the process, if there is one, and reaps it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_S):
                process = await self._process
                process.close()
                with contextlib.suppress(ChildProcessError):
                    while os.waitpid(process.get_pid(), os.WNOHANG) == (0, 0):  # noqa: ASYNC110, ASYNC222
                        await asyncio.sleep(REAP_S)


async def start(*command: str, **options: Any) -> Process:
    """Does what `asyncio.create_subprocess_exec` does, which starts a thread that waits for the process.

    Raises:
        OSError: it cannot be started at this moment, for want of a process, of memory or of that thread.
    """
    protocol = _Protocol()
    loop = asyncio.get_running_loop()
    try:
        transport, _ = await loop.subprocess_exec(lambda: protocol, *command, **options)
    except RuntimeError as error:
        # The process runs already, and nobody would ever end it
        await protocol.discard()
        raise OSError(errno.EAGAIN, str(error)) from error
    return Process(transport, protocol, loop)
