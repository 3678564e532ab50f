"""Kills a display or sound server that hangs: a process that does not end is never restarted."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from collections.abc import Callable

from onair_crds.runtime.stderr_log import log
from onair_encoder.browser.server_connection import ServerConnection
from onair_encoder.process.child import Child

LOOK_S = 1.0
MOST_UNANSWERED = 5
"""Looks in a row."""
MOST_UNANSWERED_AT_START = 30
"""The same until its first answer: on a busy node a start takes a while."""


class ServerWatch:
    """Asks a server about once a second, and kills it if it does not answer.

    Looks are counted and not time: after a pause of the whole pod the server has until the next look.
    """

    def __init__(self, child: Child, connect: Callable[[], ServerConnection]) -> None:
        """
        Args:
            child: the server, which is restarted when it has been killed.
            connect: returns a new connection to it.
        """
        self._child, self._connect = child, connect
        self._process: Process | None = None
        """The one that is asked."""
        self._connection: ServerConnection | None = None
        self._asking: asyncio.Task[bool] | None = None
        self._unanswered = 0
        self._has_answered = False

    async def run(self) -> None:
        """Looks until cancelled."""
        try:
            while True:
                self._look()
                await asyncio.sleep(LOOK_S)
        finally:
            self._forget()

    def _look(self) -> None:
        process = self._child.process
        if process is not self._process:
            self._forget()
        if process is None or process.returncode is not None:
            return
        if self._connection is None:
            self._process, self._connection = process, self._connect()
        elif self._asking and self._asking.done() and self._asking.result():
            self._has_answered, self._unanswered = True, 0
        else:
            self._unanswered += 1
        if self._unanswered >= (MOST_UNANSWERED if self._has_answered else MOST_UNANSWERED_AT_START):
            log("server.hangs", name=self._child.name, unanswered=self._unanswered)
            self._child.kill()
            self._forget()
        elif self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(_ask(self._connection))

    def _forget(self) -> None:
        """Ends what concerns the former process."""
        if self._asking:
            self._asking.cancel()
        if self._connection:
            self._connection.close()
        self._process = self._connection = self._asking = None
        self._unanswered, self._has_answered = 0, False


async def _ask(connection: ServerConnection) -> bool:
    try:
        await connection.ask()
    except (OSError, EOFError):
        return False
    return True
