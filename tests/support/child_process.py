"""Servers of tests as child processes of this machine."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

START_TIMEOUT_S = 60.0
"""For whoever waits until a server is ready."""
STOP_TIMEOUT_S = 5.0
QUICK_GO = {"GOGC": "400"}
"""For programs in Go: a third more memory, and a fifth less time of a core for what they do."""


class ServerError(RuntimeError):
    """A server of the tests did not start or has ended; the message says what to do."""


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
