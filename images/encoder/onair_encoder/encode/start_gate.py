"""Lets ffmpeg open the screen at a chosen moment, as its captures are due at whole distances from then on."""

from __future__ import annotations

import asyncio
import os
import time
from fractions import Fraction
from os import close
from pathlib import Path

from onair_encoder.encode.paint import next_capture_s

LOOK_S = 0.002
SPIN_S = 0.002
"""So long before the moment the loop waits no more: it would come back late."""
OPENING_S = 0.0007
"""From the end of the pipe until ffmpeg has connected to the screen and takes the time: 0.6 to 1.1 ms."""
MOST_LATE_S = 0.001
ATTEMPTS = 20
"""To be in time, on a busy machine; then late is better than never."""


class StartGate:
    """A named pipe, the first input of ffmpeg, which reads it to its end before it opens the next one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._task: asyncio.Task[None] | None = None

    def close(self, framerate: Fraction) -> None:
        """Closes the gate, ahead of each start: it opens by itself once ffmpeg waits there."""
        self.forget()
        self._path.unlink(missing_ok=True)
        os.mkfifo(self._path)
        self._task = asyncio.create_task(self._open_in_step(framerate), name="start gate")

    def forget(self) -> None:
        """Waits for no ffmpeg any more, as it has ended."""
        if self._task:
            self._task.cancel()
            self._task = None

    async def _open_in_step(self, framerate: Fraction) -> None:
        pipe = await self._reader()
        try:
            for _ in range(ATTEMPTS):
                from_s = time.monotonic() + OPENING_S + SPIN_S
                moment_s = next_capture_s(from_s, framerate) - OPENING_S
                await asyncio.sleep(max(0.0, moment_s - SPIN_S - time.monotonic()))
                while time.monotonic() < moment_s:
                    pass
                if time.monotonic() < moment_s + MOST_LATE_S:
                    break
        finally:
            close(pipe)

    async def _reader(self) -> int:
        """The pipe, once ffmpeg has opened it."""
        while True:
            try:
                return os.open(self._path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads it yet
                await asyncio.sleep(LOOK_S)
