"""Operators and facades as processes, each with a clock and a link to the API server of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

import yaml
from tests.support.api_server_proxy import Proxy
from tests.support.certificate_authority import HOST
from tests.support.processes import suspend

from onair_crds.shapes import Document


class Controller:
    """A program of ours that can be suspended, killed, and cut off from the API server."""

    def __init__(self, name: str, module: str, settings: Document, kubeconfig: Path, folder: Path) -> None:
        self.name, self._module = name, module
        document = yaml.safe_load(kubeconfig.read_text())
        server = document["clusters"][0]["cluster"]
        self._link = Proxy((HOST, int(server["server"].rsplit(":", 1)[1])))
        server["server"] = f"https://{HOST}:{self._link.port}"
        self._kubeconfig = folder / f"{name}.kubeconfig"
        self._kubeconfig.write_text(yaml.safe_dump(document))
        self._config = folder / f"{name}.yaml"
        self._config.write_text(yaml.safe_dump(settings))
        self.log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._link.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._link.__exit__()

    def start(self, clock_s: float = 0.0) -> None:
        """Starts it with a clock that is ahead by some seconds."""
        environment = {
            **os.environ,
            "ONAIR_CONFIG": str(self._config),
            "KUBECONFIG": str(self._kubeconfig),
            "POD_NAME": self.name,
        }
        if clock_s:
            environment |= {
                "LD_PRELOAD": faketime_library(),
                "FAKETIME": f"{clock_s:+g}s",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_NO_CACHE": "1",
            }
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def suspend(self) -> None:
        if self._process and self.running:
            suspend(self._process.pid)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process:
            self._signal(signal.SIGKILL)
            self._process.wait()

    def silence(self, direction: str) -> None:
        """Its requests no longer reach the API server, or no response and no change comes back."""
        self._link.silence(direction)

    def stall(self) -> None:
        """Its watches fall silent; connections that it opens from now on work."""
        self._link.stall()

    def heal(self) -> None:
        self._link.speak()
        self.resume()

    def _signal(self, number: int) -> None:
        if self._process and self._process.poll() is None:
            self._process.send_signal(number)


def faketime_library() -> str:
    """The library that `faketime` preloads: the command itself would be a parent that takes the signals."""
    printed = subprocess.run(
        ["faketime", "-f", "+0s", "env"], check=True, capture_output=True, text=True
    ).stdout
    return next(line for line in printed.splitlines() if line.startswith("LD_PRELOAD=")).partition("=")[2]
