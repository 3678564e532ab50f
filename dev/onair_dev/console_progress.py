"""Shows the progress of long jobs: a line per finished step, live lines for running and remaining ones."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from onair_dev import subprocesses
from onair_dev.failures import Failed
from onair_dev.subprocesses import Cancelled, Command

HEARTBEAT_S = 15.0
"""Interval of progress lines if the output is not a terminal."""
REFRESH_S = 0.25

console = Console(highlight=False, soft_wrap=True)


@dataclass
class Step:
    """A step and its line of output; `detail` and `outcome` are set while it runs."""

    name: str
    label: str = ""
    detail: str = ""
    outcome: str = ""
    doing: str = ""
    log: Path | None = None
    started: float = field(default_factory=time.monotonic)

    def run(
        self,
        doing: str,
        log_name: str,
        command: Command,
        *,
        env: Mapping[str, str] | None = None,
        stdin: Path | None = None,
        remedy: str = "",
    ) -> None:
        """Runs a command while showing the last line of its log, see `subprocesses.run_logged`."""
        self.doing, self.log = doing, subprocesses.log_of(log_name)
        subprocesses.run_logged(doing, log_name, command, env=env, stdin=stdin, remedy=remedy)
        self.doing, self.log = "", None

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.started

    @property
    def status(self) -> str:
        """The current activity, with the last line of its log."""
        last = subprocesses.last_line(self.log) if self.log else ""
        return " · ".join(part for part in (self.doing, last) if part)

    def __str__(self) -> str:
        return f"{self.label} {self.name:<14} {self.detail:<58} {self.outcome or seconds(self.elapsed_s)}"


def seconds(elapsed_s: float) -> str:
    """Formats a duration: `9.8 s`, `48 s`."""
    return f"{elapsed_s:.1f} s" if elapsed_s < 10 else f"{elapsed_s:.0f} s"


class Progress:
    """Shows the running steps, several at a time; a context manager around all steps of a command."""

    def __init__(self, left: Callable[[], str] = str) -> None:
        """`left` returns a line about the remaining tasks and time."""
        self._left = left
        self._running: list[Step] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        if console.is_terminal:
            self._live.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if console.is_terminal:
            self._live.stop()

    @contextlib.contextmanager
    def step(self, name: str, label: str = "     ") -> Iterator[Step]:
        """Runs one step, and prints its line when it has finished."""
        current = Step(name, label)
        with self._lock:
            self._running.append(current)
        try:
            yield current
        except Cancelled:
            raise
        except Failed:
            console.print(f"{label} {name:<14} failed after {seconds(current.elapsed_s)}", markup=False)
            raise
        finally:
            with self._lock:
                self._running.remove(current)
        console.print(str(current), markup=False)

    def _beat(self) -> None:
        interval = REFRESH_S if console.is_terminal else HEARTBEAT_S
        while not self._ended.wait(interval):
            with self._lock:
                lines = [f"      {s.name:<14} {seconds(s.elapsed_s):>6}  {s.status}" for s in self._running]
            if not lines:
                continue
            if left := self._left():
                lines.append(f"      {left}")
            if console.is_terminal:
                texts = [Text(line, no_wrap=True, overflow="ellipsis", style="dim") for line in lines]
                self._live.update(Group(*texts), refresh=True)
            else:
                for line in lines:
                    print(line[:160], flush=True)
