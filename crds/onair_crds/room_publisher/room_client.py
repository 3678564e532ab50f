"""The publisher's side of a room's process: starts it, writes packets to it, reads what it reports."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from onair_crds.contract.program import ProgramRtc
from onair_crds.room_publisher.pipe import Gone, Message, decode_message, settings_message
from onair_crds.session_error import SessionError

LEAVE_TIMEOUT_S = 2.5
COMMAND = (sys.executable, "-m", "onair_crds.room_publisher.room_process")
PREVIEW = "preview"
"""Argument of a process that encodes video again where rooms could not show it."""


class RoomClient:
    """Errors of the process are in its messages: its other output may hold a token."""

    def __init__(
        self, process: asyncio.subprocess.Process, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader
    ) -> None:
        self._process, self._stdin, self._stdout = process, stdin, stdout

    @classmethod
    async def start(cls, rtc: ProgramRtc, *, preview: bool = False) -> RoomClient:
        """Starts the process, and hands it the settings of its room.

        Args:
            preview: video of any H.264, small if need be; else it is passed through as it is.
        """
        child = await asyncio.create_subprocess_exec(
            *COMMAND,
            *((PREVIEW,) if preview else ()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if not (child.stdin and child.stdout):
            raise SessionError("internal error (no pipe)")
        client = cls(child, child.stdin, child.stdout)
        client.write(settings_message(rtc))
        return client

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def unsent(self) -> int:
        return self._stdin.transport.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        if not self._stdin.transport.is_closing():
            self._stdin.write(data)

    async def message(self) -> Message:
        """The next message; `Gone`, once the process has ended."""
        while line := await self._stdout.readline():
            with contextlib.suppress(ValueError):
                return decode_message(line)
        code = await self._process.wait()
        return Gone(f"the publishing process ended ({f'signal {-code}' if code < 0 else f'exit {code}'})")

    async def finish(self) -> None:
        """Asks for a proper end and waits for it."""
        self._stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
                await self._process.wait()

    async def close(self) -> None:
        """Kills the process, if it is still there."""
        if not self._stdin.transport.is_closing():
            self._stdin.transport.abort()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
