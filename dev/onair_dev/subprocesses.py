"""Runs programs, with their output in a log or returned. Uses only the standard library."""

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
    """A command was terminated because another step failed."""


Command = Sequence[str | Path]


def last_line(log: Path) -> str:
    """Returns the last non-empty line of a log, or an empty string."""
    try:
        lines = log.read_bytes()[-4000:].decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


_RUNNING: set[subprocess.Popen[bytes]] = set()
_CANCELLED = threading.Event()


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
        Failed: the command could not be started, or its exit code is not 0.
        Cancelled: another step failed, before or while it ran.
    """
    check_cancelled(doing)
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
        if _CANCELLED.is_set():  # since it was started
            _terminate(process)
        try:
            code = process.wait()
        finally:
            _RUNNING.discard(process)
            if process.poll() is None:
                _terminate(process)
                # Nobody may take the lock while it still writes
                process.wait()
    if code != 0:
        check_cancelled(doing)
    if code != 0:
        raise Failed(f"{doing}: exit code {code}: {last_line(log)}", remedy, log)


def log_of(name: str) -> Path:
    """Returns the path of the log that `run_logged` writes."""
    return LOGS / f"{name}.log"


def terminate_all() -> None:
    """Terminates the commands of all threads, with their child processes."""
    _CANCELLED.set()
    for process in list(_RUNNING):
        _terminate(process)


def check_cancelled(doing: str) -> None:
    """Checks that commands may still run.

    Raises:
        Cancelled: another step failed, or the user has interrupted all of them.
    """
    if _CANCELLED.is_set():
        raise Cancelled(f"{doing}: cancelled, as another step failed")


def pause(duration_s: float) -> None:
    """Waits before something is looked at again.

    Raises:
        Cancelled: another step failed, or the user has interrupted all of them, before or meanwhile.
    """
    _CANCELLED.wait(duration_s)
    check_cancelled("waiting")


def allow_new() -> None:
    """Lets commands run again, once all tasks that were cancelled have ended."""
    _CANCELLED.clear()


def _terminate(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def output_of(command: Command, timeout_s: float = 60, env: Mapping[str, str] | None = None) -> str:
    """Returns the output of a short command, or an empty string if it fails or exceeds the timeout."""
    try:
        return required_output_of(command, timeout_s, env) or " "
    except Failed:
        return ""


def required_output_of(
    command: Command, timeout_s: float = 60, env: Mapping[str, str] | None = None, *, remedy: str = ""
) -> str:
    """Returns the output of a short command, without white space around it.

    Raises:
        Failed: it could not be started, failed, or exceeded the timeout.
    """
    words = list(map(str, command))
    name = " ".join(words[:2])
    try:
        finished = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env={**os.environ, **(env or {})},
        )
    except OSError as error:
        raise Failed(f"`{name}` cannot be started: {error}", remedy) from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"`{name}` took longer than {timeout_s:.0f} s", remedy) from error
    if finished.returncode != 0:
        said = finished.stderr.strip().splitlines() or ["it said nothing"]
        raise Failed(f"`{name}` failed with exit code {finished.returncode}: {said[-1].strip()}", remedy)
    return finished.stdout.strip()


def succeeds(command: Command, timeout_s: float = 60, env: Mapping[str, str] | None = None) -> bool:
    """Whether a short command exits with 0 within the timeout."""
    return bool(output_of(command, timeout_s, env))
