"""Process 1 of a container: keeps children running, reaps orphans, passes SIGTERM on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from onair_encoder.logs import log

QUICK_END_S = 5.0
"""A child that ends sooner counts as failing; only then do restarts wait."""
MAX_DELAY_S = 2.0
STOP_TIMEOUT_S = 3.0


class Child:
    """A program that is started again whenever it ends."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
        again: Callable[[], None] | None = None,
        quiet: bool = False,
        hears: Callable[[str], None] | None = None,
    ) -> None:
        """
        Args:
            before: awaited ahead of each start.
            again: called after each end.
            quiet: its output goes nowhere.
            hears: takes each line of its output; otherwise that is ours.
        """
        self.name = name
        self.command = list(command)
        self.restarts = 0
        self.process: asyncio.subprocess.Process | None = None
        self._env = {**os.environ, **(env or {})}
        self._before, self._again = before, again
        self._quiet, self._hears = quiet, hears
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep(), name=self.name)

    async def _keep(self) -> None:
        delay_s = 0.0
        while True:
            if self._before:
                await self._before()
            started = time.monotonic()
            output = asyncio.subprocess.DEVNULL if self._quiet else None
            if self._hears:
                output = asyncio.subprocess.PIPE
            try:
                self.process = await asyncio.create_subprocess_exec(
                    *self.command,
                    env=self._env,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )
            except OSError as error:  # too many processes, or no memory, at this moment
                log("child.not-started", name=self.name, error=str(error))
            else:
                log("child.started", name=self.name, pid=self.process.pid, restarts=self.restarts)
                await self._listen(self.process)
                code = await self.process.wait()
                log("child.ended", name=self.name, code=code)
                self.restarts += 1
            if self._again:
                self._again()
            quick = time.monotonic() - started < QUICK_END_S
            delay_s = min(max(0.05, delay_s * 2), MAX_DELAY_S) if quick else 0.0
            await asyncio.sleep(delay_s)

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Hands on what it says until it has ended."""
        if self._hears is None:
            return
        hears = self._hears

        async def follow(stream: asyncio.StreamReader) -> None:
            while True:
                try:
                    line = await stream.readline()
                except ValueError:
                    continue  # longer than any line that is worth hearing
                if not line:
                    return
                hears(line.decode(errors="replace").rstrip())

        streams = [stream for stream in (process.stdout, process.stderr) if stream]
        await asyncio.gather(*map(follow, streams))

    def kill(self) -> None:
        """Ends the program at once; it is started again."""
        if self.process and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()

    async def stop(self, signal_number: int = signal.SIGTERM) -> None:
        """Ends the program and does not start it again."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        process = self.process
        if process and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal_number)
            try:
                await asyncio.wait_for(process.wait(), STOP_TIMEOUT_S)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()


async def reap_orphans() -> None:
    """Collects processes that were left to process 1; children of ours are left to asyncio."""
    if os.getpid() != 1:
        return
    before: set[int] = set()
    while True:
        await asyncio.sleep(5)
        found = _zombies_of(1)
        # Asyncio collects its own at once: what is seen twice is nobody's.
        for pid in before & found:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222
        before = found


def _zombies_of(parent: int) -> set[int]:
    found = set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            state, ppid = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state == "Z" and int(ppid) == parent:
            found.add(int(folder.name))
    return found


async def wait_for_path(path: Path, timeout_s: float = 10.0) -> bool:
    """Waits until a socket or file is there; a time-out is told by False."""
    deadline = time.monotonic() + timeout_s
    while not path.exists():  # noqa: ASYNC240
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True


def terminated() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, event.set)
    return event
