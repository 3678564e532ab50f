"""An ingest pod as a kubelet runs it: its images, each program PID 1 of its container, ended by SIGTERM."""

from __future__ import annotations

import subprocess
import time
import uuid
from pathlib import Path
from typing import Literal, Self

from tests.support.docker import docker, own_image, remove
from tests.support.ingest.ingest_pod import IngestPod

Part = Literal["server", "gateway"]
GRACE_S = 5
"""`terminationGracePeriodSeconds` of the chart."""
LOCKED_DOWN = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--user=65532:65532")


class IngestContainers(IngestPod):
    """Use as a context manager; the containers are gone afterwards."""

    def __enter__(self) -> Self:
        self._prefix = f"onair-test-{uuid.uuid4().hex[:8]}"
        try:
            return super().__enter__()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        for part in ("gateway", "server"):
            remove(f"{self._prefix}-{part}")

    def tell_to_end(self, *parts: Part) -> float:
        """Sends SIGTERM to containers, in this order; returns when it began to.

        A kubelet tells all of a pod's by threads of their own, so any may hear of it first.
        """
        began_s = time.monotonic()
        for part in parts:
            docker("kill", "--signal=TERM", f"{self._prefix}-{part}")
        return began_s

    def exit_code(self, part: Part) -> int:
        """What a container has ended with by itself, within twice its grace period."""
        command = ["docker", "wait", f"{self._prefix}-{part}"]
        run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=2 * GRACE_S)
        return int(run.stdout)

    def start_server(self) -> None:
        mounted = f"--volume={self._config}:/etc/onair/mediamtx.yml:ro"
        self._start(
            "server", self._server_environment, mounted, own_image("mediamtx"), "/etc/onair/mediamtx.yml"
        )
        self._wait_server(lambda: self._check("server"))

    def start_gateway(self) -> None:
        inside = Path("/run/onair/secret/secret")
        files = {"ONAIR_SECRET_FILE": str(inside), "ONAIR_CONNECTIONS_FILE": "/tmp/connections.json"}
        environment = {**self._gateway_environment, **files}
        del environment["PYTHONPATH"]
        mounted = f"--volume={self.folder / 'secret'}:{inside}:ro"
        self._start("gateway", environment, mounted, "--tmpfs=/tmp", own_image("ingest"))
        self._wait_gateway(lambda: self._check("gateway"))

    def _start(self, part: Part, environment: dict[str, str], *arguments: str) -> None:
        variables = [f"--env={name}={value}" for name, value in environment.items()]
        command = ("run", "-d", "--network=host", f"--name={self._prefix}-{part}", *LOCKED_DOWN, *variables)
        docker(*command, *arguments)

    def _check(self, part: Part) -> None:
        assert docker("inspect", "-f", "{{.State.Running}}", f"{self._prefix}-{part}") == "true", self.log

    @property
    def log(self) -> str:
        """All that both containers have logged."""
        return "".join(self._logged(part) for part in ("server", "gateway"))

    def _logged(self, part: Part) -> str:
        command = ["docker", "logs", f"{self._prefix}-{part}"]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return run.stdout
