"""A child process of PID 1, kept running."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from onair_crds.runtime.stderr_log import log
from onair_encoder.process.start import start

QUICK_END_S = 5.0
"""A child that ends sooner counts as failing; only then are restarts delayed."""
MAX_DELAY_S = 2.0
STOP_TIMEOUT_S = 3.0


class Child:
    """A program that is restarted whenever it ends."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
        on_start: Callable[[int], object] | None = None,
        on_end: Callable[[], None] | None = None,
        quiet: bool = False,
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        """
        Args:
            before: awaited ahead of each start, which an error of it puts off.
            on_start: called after each start, with the id of the process.
            on_end: called after each end, also of a start that came to nothing.
            quiet: discards its output.
            on_line: takes each line of its output; otherwise that goes to our own.
        """
        self.name = name
        self.command = list(command)
        self.restarts = 0
        self.process: asyncio.subprocess.Process | None = None
        self._env = {**os.environ, **(env or {})}
        self._before, self._on_start, self._on_end = before, on_start, on_end
        self._quiet, self._on_line = quiet, on_line
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep(), name=self.name)

    async def _keep(self) -> None:
        delay_s = 0.0
        while True:
            started = time.monotonic()
            output = asyncio.subprocess.DEVNULL if self._quiet else None
            if self._on_line:
                output = asyncio.subprocess.PIPE
            try:
                if self._before:
                    await self._before()
                    started = time.monotonic()
                self.process = await start(
                    *self.command,
                    env=self._env,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )
            except Exception as error:  # noqa: BLE001  no memory, processes or space at this moment, or whatever it was
                log("child.not-started", name=self.name, error=str(error) or repr(error))
            else:
                log("child.started", name=self.name, pid=self.process.pid, restarts=self.restarts)
                self._note("start", self._on_start and partial(self._on_start, self.process.pid))
                await self._listen(self.process)
                code = await self.process.wait()
                log("child.ended", name=self.name, code=code)
                self.restarts += 1
            self._note("end", self._on_end)
            quick = time.monotonic() - started < QUICK_END_S
            delay_s = min(max(0.05, delay_s * 2), MAX_DELAY_S) if quick else 0.0
            await asyncio.sleep(delay_s)

    def _note(self, event: str, notify: Callable[[], object] | None) -> None:
        try:
            if notify:
                notify()
        except Exception as error:  # noqa: BLE001  it is kept running, whoever is notified of it
            log(f"child.{event}-not-noted", name=self.name, error=repr(error))

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Passes its lines on until it has ended."""
        if self._on_line is None:
            return
        on_line = self._on_line

        async def follow(stream: asyncio.StreamReader) -> None:
            while True:
                try:
                    line = await stream.readline()
                except ValueError:
                    continue  # longer than any line of interest
                if not line:
                    return
                try:
                    on_line(line.decode(errors="replace").rstrip())
                except Exception as error:  # noqa: BLE001  its output is read on, else it would block
                    log("child.line-not-taken", name=self.name, error=repr(error))

        streams = [stream for stream in (process.stdout, process.stderr) if stream]
        await asyncio.gather(*map(follow, streams))

    def kill(self) -> bool:
        """Kills the program; it is restarted. Returns whether it ran."""
        if self.process is None or self.process.returncode is not None:
            return False
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        return True

    async def stop(self, signal_number: int = signal.SIGTERM, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Ends the program, by SIGKILL after the timeout, and does not restart it."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)  # its program ends whatever it raised
            self._task = None
        process = self.process
        if process and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal_number)
            try:
                async with asyncio.timeout(timeout_s):
                    await process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
