"""What a person sees of a long job: one line per step, a heartbeat, and a useful last word on failure."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from settings import LOGS, ROOT

HEARTBEAT_S = 1.0 if sys.stdout.isatty() else 15.0


class Failed(Exception):
    """A step cannot be done: why, what to try, and where the log is."""

    def __init__(self, why: str, try_: str = "", log: Path | None = None) -> None:
        super().__init__(why)
        self.why, self.try_, self.log = why, try_, log


@dataclass
class Step:
    """One line of the report; `detail` and `outcome` are filled in while it runs."""

    label: str
    name: str
    detail: str = ""
    outcome: str = ""
    doing: str = ""
    log: Path | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> str:
        elapsed = time.monotonic() - self.started
        return f"{elapsed:.1f} s" if elapsed < 10 else f"{elapsed:.0f} s"

    def __str__(self) -> str:
        return f"{self.label} {self.name:<12} {self.detail:<58} {self.outcome or self.seconds}"


@contextlib.contextmanager
def step(label: str, name: str) -> Iterator[Step]:
    """Runs one step; prints its line at the end and a heartbeat in between."""
    current = Step(label, name)
    ended = threading.Event()
    heart = threading.Thread(target=beat, args=(current, ended), daemon=True)
    heart.start()
    try:
        yield current
    except Failed:
        erase_line()
        print(f"{label} {name:<12} failed after {current.seconds}", flush=True)
        raise
    finally:
        ended.set()
        heart.join()
    erase_line()
    print(current, flush=True)


def beat(current: Step, ended: threading.Event) -> None:
    """Says every now and then what the step is doing, and the last line of its log."""
    while not ended.wait(HEARTBEAT_S):
        last = last_line(current.log) if current.log else ""
        text = f"      {current.name:<12} {current.seconds:>6}  {current.doing}"
        if last:
            text += f" · {last}"
        if sys.stdout.isatty():
            width = os.get_terminal_size().columns - 1
            print(f"\r\033[2K{text[:width]}", end="", flush=True)
        else:
            print(text[:160], flush=True)


def erase_line() -> None:
    """Removes the heartbeat from a terminal."""
    if sys.stdout.isatty():
        print("\r\033[2K", end="")


def last_line(log: Path) -> str:
    """The last line with something in it."""
    try:
        lines = log.read_bytes()[-4000:].decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def run_logged(
    current: Step,
    doing: str,
    log_name: str,
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    stdin: Path | None = None,
    try_: str = "",
) -> None:
    """Runs a command with its output in `build/logs/<log_name>.log`.

    Raises:
        Failed: the command could not be started or did not end with 0.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{log_name}.log"
    current.doing, current.log = doing, log
    with contextlib.ExitStack() as files:
        output = files.enter_context(log.open("wb"))
        source = files.enter_context(stdin.open("rb")) if stdin else subprocess.DEVNULL
        try:
            code = subprocess.call(
                list(map(str, command)),
                stdin=source,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env={**os.environ, **(env or {})},
            )
        except OSError as error:
            raise Failed(f"{doing}: {error}", try_, log) from error
    current.doing, current.log = "", None
    if code != 0:
        raise Failed(f"{doing}: ended with {code}: {last_line(log)}", try_, log)


def output_of(
    command: Sequence[str | Path], timeout_s: float = 60, env: Mapping[str, str] | None = None
) -> str:
    """What a quick command prints, or an empty string when it fails or takes too long."""
    try:
        answer = subprocess.run(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=True,
            env={**os.environ, **(env or {})},
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip() or " "


def succeeds(
    command: Sequence[str | Path], timeout_s: float = 60, env: Mapping[str, str] | None = None
) -> bool:
    """Whether a quick command ends with 0 in time."""
    return bool(output_of(command, timeout_s, env))


@contextlib.contextmanager
def last_words() -> Iterator[None]:
    """Turns Failed and Ctrl-C into a few lines and an exit code."""
    try:
        yield
    except Failed as failure:
        # Not among what a shell evaluates
        print(f"  why   {failure.why}", file=sys.stderr)
        if failure.try_:
            print(f"  try   {failure.try_}", file=sys.stderr)
        if failure.log:
            with contextlib.suppress(ValueError):
                failure.log = failure.log.relative_to(ROOT)
            print(f"  log   {failure.log}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on where it stopped", file=sys.stderr)
        sys.exit(130)
