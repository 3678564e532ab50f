"""A facade and other servers and load generators in separate processes, to be measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import yaml
from tests.support.control_plane import free_port
from tests.support.facade import StoredResources
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

LOAD = Path(__file__).parents[1] / "bench/api/load"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class MeasuredProcess:
    """A child process that is controlled by lines of JSON, with its CPU time and memory."""

    def __init__(self, command: list[str], **environment: str) -> None:
        paths = os.pathsep.join(p for p in sys.path if p)
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, "PYTHONPATH": paths, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def resident_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def line(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())  # type: ignore[no-any-return]

    def measure(self, events: int) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{events}\n")
        self.process.stdin.flush()
        assert self.line() == {"measuring": True}

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class ReplicaProcess:
    """A facade process and the access token of a host."""

    def __init__(
        self,
        folder: Path,
        programs: list[MeasuredProcess],
        rights: Path,
        resources: StoredResources,
        key: str,
        redis: str,
        *,
        usual_limits: bool = False,
    ) -> None:
        """
        Args:
            usual_limits: those of an installation; else none, as all load comes with one token.
        """
        self.port = free_port()
        no_limits = {
            "events": {"sessionsPerToken": 100_000, "bytesPerOwnerS": 0},
            "rateLimits": {"perToken": 0, "perService": 0},
        }
        config = folder / "config.yaml"
        config.write_text(
            yaml.safe_dump(
                {
                    "listen": {"host": "127.0.0.1", "port": self.port},
                    "showNamespace": resources.shows,
                    "releaseNamespace": resources.release,
                    "redis": {"url": redis},
                    "logLevel": "ERROR",
                    **({} if usual_limits else no_limits),
                }
            )
        )
        self.program = MeasuredProcess(["-m", "onair_api"], ONAIR_CONFIG=str(config), KUBECONFIG=str(rights))
        programs.append(self.program)
        self._url = url = f"http://127.0.0.1:{self.port}"
        wait_for(lambda: _ready(url), "the facade is ready")
        self.token = self.sign_in(key, "bench")
        wait_for(
            lambda: "onair_api_redis_connected 1.0" in self.metrics(),
            "Redis connected",
        )

    def metrics(self) -> str:
        return httpx.get(f"{self._url}/metrics", trust_env=False, verify=NO_TLS).text

    def sign_in(self, key: str, user: str) -> str:
        """A host's token."""

        def post() -> httpx.Response:
            headers, body = {"X-API-Key": key}, {"serviceUserId": user}
            path = "/live/v2/authentication/token"
            return httpx.post(
                f"{self._url}{path}", headers=headers, json=body, trust_env=False, verify=NO_TLS
            )

        response = wait_for(lambda: (posted := post()).is_success and posted, "the API key is accepted")
        return str(response.json()["accessToken"])


def subscribers(
    programs: list[MeasuredProcess], port: int, path: str, token: str, count: int
) -> MeasuredProcess:
    offered = f"Bearer, {token}" if token else ""
    load = MeasuredProcess([str(LOAD / "subscribers.py"), "127.0.0.1", str(port), path, offered, str(count)])
    programs.append(load)
    assert load.line() == {"open": count}
    return load


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False, verify=NO_TLS).is_success
    except httpx.TransportError:
        return False
