"""Operators and facades as processes, each with a clock and a link to the API server of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import yaml
from tests.support.control_plane import HOST, free_port
from tests.support.delivery.server_program import server_program
from tests.support.facade import wait_for

from onair_crds.shapes import Document

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


class Links:
    """A real toxiproxy: named TCP links that can be cut in one direction or in both."""

    def __init__(self) -> None:
        self._port = free_port()
        command = [server_program("toxiproxy-server"), "-host", HOST, "-port", str(self._port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._http = httpx.Client(base_url=f"http://{HOST}:{self._port}", trust_env=False, timeout=5)
        wait_for(self._responds, "toxiproxy responds")

    def _responds(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return self._http.get("/version").is_success
        return False

    def add(self, name: str, to_port: int) -> int:
        """A link to a port of this machine; returns the port to connect to."""
        port = free_port()
        body = {"name": name, "listen": f"{HOST}:{port}", "upstream": f"{HOST}:{to_port}"}
        self._http.post("/proxies", json=body).raise_for_status()
        return port

    def silence(self, name: str, direction: str) -> None:
        """Passes nothing on in one direction, `upstream` or `downstream`; connections stay open."""
        toxic = {"type": "timeout", "stream": direction, "name": direction, "attributes": {"timeout": 0}}
        self._http.post(f"/proxies/{name}/toxics", json=toxic)

    def heal(self, name: str) -> None:
        """Restores a link. What was silenced for a while is reset, as by a real network's timeouts."""
        for direction in ("upstream", "downstream"):
            self._http.delete(f"/proxies/{name}/toxics/{direction}")

    def end(self) -> None:
        self._http.close()
        self._process.kill()
        self._process.wait()


class Controller:
    """A program of ours that can be suspended, killed, and cut off from the API server."""

    def __init__(
        self, name: str, module: str, settings: Document, kubeconfig: Path, links: Links, folder: Path
    ) -> None:
        self.name, self._module, self._links = name, module, links
        document = yaml.safe_load(kubeconfig.read_text())
        server = document["clusters"][0]["cluster"]
        link = links.add(name, int(server["server"].rsplit(":", 1)[1]))
        server["server"] = f"https://{HOST}:{link}"
        self._kubeconfig = folder / f"{name}.kubeconfig"
        self._kubeconfig.write_text(yaml.safe_dump(document))
        self._config = folder / f"{name}.yaml"
        self._config.write_text(yaml.safe_dump(settings))
        self.log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

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
                "LD_PRELOAD": FAKETIME,
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
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process:
            self._signal(signal.SIGKILL)
            self._process.wait()

    def silence(self, direction: str) -> None:
        """Its requests no longer reach the API server, or no response and no change comes back."""
        self._links.silence(self.name, direction)

    def heal(self) -> None:
        self._links.heal(self.name)
        self.resume()

    def _signal(self, number: int) -> None:
        if self._process and self._process.poll() is None:
            self._process.send_signal(number)


@contextlib.contextmanager
def links() -> Iterator[Links]:
    """A toxiproxy for as long as the context lasts."""
    proxies = Links()
    try:
        yield proxies
    finally:
        proxies.end()


def monotonic_until(deadline_s: float) -> Iterator[float]:
    """Seconds since the first, every tenth of a second, until the deadline."""
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < deadline_s:
        yield passed
        time.sleep(0.1)
