"""Runs programs: with their output in a log, or for what they print. The standard library alone."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from onair_dev.failures import Failed
from onair_dev.settings import LOGS, ROOT


class Cancelled(Failed):
    """A command was ended by us."""


Command = Sequence[str | Path]


def last_line(log: Path) -> str:
    """The last line of a log with something in it; empty where there is none."""
    try:
        lines = log.read_bytes()[-4000:].decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


_RUNNING: set[subprocess.Popen[bytes]] = set()
_ENDED = threading.Event()


def run_logged(
    doing: str,
    log_name: str,
    command: Command,
    *,
    env: Mapping[str, str] | None = None,
    stdin: Path | None = None,
    remedy: str = "",
) -> None:
    """Runs a command with its output in `build/logs/<log_name>.log`.

    Raises:
        Failed: the command could not be started, or did not end with 0.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    log = log_of(log_name)
    with contextlib.ExitStack() as files:
        output = files.enter_context(log.open("wb"))
        source = files.enter_context(stdin.open("rb")) if stdin else subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                list(map(str, command)),
                stdin=source,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        except OSError as error:
            raise Failed(f"{doing}: {error}", remedy, log) from error
        _RUNNING.add(process)
        try:
            code = process.wait()
        finally:
            _RUNNING.discard(process)
            if process.poll() is None:
                _end(process)
    if code != 0 and _ENDED.is_set():
        raise Cancelled(f"{doing}: ended, as another step failed")
    if code != 0:
        raise Failed(f"{doing}: ended with {code}: {last_line(log)}", remedy, log)


def log_of(name: str) -> Path:
    """Where `run_logged` writes."""
    return LOGS / f"{name}.log"


def end_all() -> None:
    """Ends what other threads still run, with all that it has started."""
    _ENDED.set()
    for process in list(_RUNNING):
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def output_of(command: Command, timeout_s: float = 60, env: Mapping[str, str] | None = None) -> str:
    """What a quick command prints, or an empty string when it fails or takes too long."""
    try:
        finished = subprocess.run(
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
    return finished.stdout.strip() or " "


def succeeds(command: Command, timeout_s: float = 60, env: Mapping[str, str] | None = None) -> bool:
    """Whether a quick command ends with 0 in time."""
    return bool(output_of(command, timeout_s, env))
