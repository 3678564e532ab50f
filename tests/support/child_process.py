"""Servers of tests as child processes of this machine, and waiting until they are ready."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
POLL_S = 0.05
QUICK_GO = {"GOGC": "400"}
"""For programs in Go: a third more memory, and a fifth less time of a core for what they do."""


class ServerError(RuntimeError):
    """A server of the tests did not start, ended, or did not become ready; the message says what to do."""


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = START_TIMEOUT_S) -> None:
    """Waits until `condition()` holds.

    Raises:
        ServerError: the condition did not hold within `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise ServerError(f"{what}: not within {timeout_s:g} s")
        time.sleep(POLL_S)


class ChildProcess:
    """A child process with its output in a file. It is killed with its parent if the system supports that."""

    def __init__(
        self, command: Sequence[str | Path], log: Path, variables: Mapping[str, str] | None = None
    ) -> None:
        self.name = Path(command[0]).name
        self.log = log
        parent_death = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [*parent_death, *map(str, command)],
                env={**os.environ, **(variables or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def check(self) -> None:
        """Raises ServerError with the end of the log if the process has ended."""
        if self.process.poll() is not None:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
            raise ServerError(f"{self.name} ended with {self.process.returncode}:\n{tail}")

    def stop(self) -> None:
        """Terminates the process; kills it if it has not ended within STOP_TIMEOUT_S."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
