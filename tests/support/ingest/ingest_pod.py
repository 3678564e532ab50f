"""An ingest pod without Kubernetes: MediaMTX with the chart's configuration and the gateway, as processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import httpx
from tests.support.child_process import START_TIMEOUT_S, ChildProcess
from tests.support.control_plane import free_port
from tests.support.delivery.server_program import server_program
from tests.support.ingest.follower import Follower
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "charts/onair/files/ingest.yml"
SOURCES = [ROOT / "crds", ROOT / "images/ingest"]


class IngestPod:
    """Both containers. Use as a context manager.

    Args:
        settings: of the gateway, as environment variables (`ONAIR_HOOK__TIMEOUT_S`).
        server: of MediaMTX, likewise (`MTX_READTIMEOUT`).
        config: file with the settings of MediaMTX.
    """

    def __init__(
        self,
        folder: Path,
        facade_url: str,
        secret: bytes,
        name: str = "onair-ingest-0",
        settings: dict[str, str] | None = None,
        server: dict[str, str] | None = None,
        config: Path = CONFIG,
    ) -> None:
        self.folder = folder
        self._config = config
        self.secret = secret
        (folder / "secret").write_bytes(secret)
        self.connections_file = folder / "connections.json"
        self.rtmp_port, self.rtmps_port, self.srt_port = free_port(), free_port(), free_port()
        self.api_port, self.hook_port = free_port(), free_port()
        self.port, self.probe_port = free_port(), free_port()
        self._server_environment = {
            "MTX_AUTHHTTPADDRESS": f"http://127.0.0.1:{self.hook_port}/publish",
            "MTX_APIADDRESS": f"127.0.0.1:{self.api_port}",
            "MTX_RTMPADDRESS": f"127.0.0.1:{self.rtmp_port}",
            "MTX_RTMPSADDRESS": f"127.0.0.1:{self.rtmps_port}",
            "MTX_SRTADDRESS": f"127.0.0.1:{self.srt_port}",
            **(server or {}),
        }
        self._gateway_environment = {
            "PYTHONPATH": os.pathsep.join(map(str, SOURCES)),
            "ONAIR_NAME": name,
            "ONAIR_PORT": str(self.port),
            "ONAIR_METRICS_PORT": str(self.probe_port),
            "ONAIR_SECRET_FILE": str(folder / "secret"),
            "ONAIR_MEDIAMTX__API_URL": f"http://127.0.0.1:{self.api_port}",
            "ONAIR_MEDIAMTX__RTMP_URL": f"rtmp://127.0.0.1:{self.rtmp_port}",
            "ONAIR_HOOK__PORT": str(self.hook_port),
            "ONAIR_HOOK__FACADE_URL": facade_url,
            "ONAIR_CONNECTIONS_FILE": str(self.connections_file),
            "ONAIR_STOP_S": "0",
            **(settings or {}),
        }

    def __enter__(self) -> Self:
        self.start_server()
        self.start_gateway()
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self.gateway, self.server):
            process.process.send_signal(signal.SIGCONT)
        self.stop()

    def restart(self) -> None:
        """Ends both containers as an eviction does, and starts them again."""
        self.stop()
        self.start_server()
        self.start_gateway()

    def stop(self) -> float:
        """Ends both containers as a deleted pod's are; returns when they were told to."""
        told_at_s = time.monotonic()
        for process in (self.gateway, self.server):
            process.process.terminate()
        for process in (self.gateway, self.server):
            process.stop()
        return told_at_s

    @property
    def rtmp(self) -> str:
        return f"rtmp://127.0.0.1:{self.rtmp_port}/live"

    @property
    def rtmps(self) -> str:
        return f"rtmps://127.0.0.1:{self.rtmps_port}/live"

    @property
    def srt_server(self) -> str:
        return f"srt://127.0.0.1:{self.srt_port}"

    def srt(self, stream_id: str) -> str:
        return f"{self.srt_server}?streamid={stream_id}"

    @property
    def log(self) -> str:
        """All that both containers have logged."""
        return "".join(
            (self.folder / f"{name}.log").read_text(errors="replace") for name in ("server", "gateway")
        )

    def follow(self) -> Follower:
        return Follower(f"http://127.0.0.1:{self.port}", self.secret)

    @property
    def metrics(self) -> str:
        """All of the gateway's, as Prometheus reads them."""
        return httpx.get(f"http://127.0.0.1:{self.probe_port}/metrics", verify=NO_TLS).text

    def metric(self, name: str) -> float:
        """The value of one of the gateway's metrics, named with its labels; 0 where there is none."""
        found = [line.rsplit(" ", 1)[1] for line in self.metrics.splitlines() if line.startswith(f"{name} ")]
        return float(found[0]) if found else 0.0

    def gateway_cpu_s(self) -> float:
        """CPU time that the gateway has used."""
        lines = self.metrics.splitlines()
        (line,) = [each for each in lines if each.startswith("process_cpu_seconds_total ")]
        return float(line.split()[1])

    def is_ready(self) -> bool:
        return httpx.get(f"http://127.0.0.1:{self.probe_port}/readyz", verify=NO_TLS).is_success

    def server_is_alive(self) -> bool:
        """What the probe of MediaMTX says, which the gateway responds to."""
        return httpx.get(f"http://127.0.0.1:{self.probe_port}/server", verify=NO_TLS).is_success

    def server_api(self, method: str, path: str) -> httpx.Response:
        """MediaMTX' own API, past the gateway."""
        return httpx.request(method, f"http://127.0.0.1:{self.api_port}{path}", timeout=5, verify=NO_TLS)

    def has_media(self, key: str) -> bool:
        """Whether the server has received media by RTMP with a key, past the gateway."""
        response = self.server_api("GET", f"/v3/paths/get/live/{key}")
        return response.is_success and response.json()["inboundBytes"] > 0

    def configured_paths(self) -> list[str]:
        """Paths that MediaMTX is configured with."""
        response = self.server_api("GET", "/v3/config/paths/list")
        return [path["name"] for path in response.raise_for_status().json()["items"]]

    def start_server(self) -> None:
        environment = [f"{name}={value}" for name, value in self._server_environment.items()]
        self.server = ChildProcess(
            ["env", *environment, server_program("mediamtx"), self._config], self.folder / "server.log"
        )
        self._wait_server(self.server.check)

    def start_gateway(self) -> None:
        environment = [f"{name}={value}" for name, value in self._gateway_environment.items()]
        self.gateway = ChildProcess(
            ["env", *environment, sys.executable, "-m", "onair_ingest"], self.folder / "gateway.log"
        )
        self._wait_gateway(self.gateway.check)

    def kill(self, part: ChildProcess) -> float:
        """Ends a container as a crash would; returns when."""
        part.process.kill()
        part.process.wait()
        return time.monotonic()

    def crash(self) -> float:
        """Ends both as a node's crash does; returns when."""
        self.kill(self.server)
        return self.kill(self.gateway)

    def _wait_server(self, check: Callable[[], None]) -> None:
        """Waits until it responds; `check` fails once it cannot any more."""
        wait_for(
            lambda: self._responds(self.api_port, "/v3/paths/list", check),
            "MediaMTX responds",
            START_TIMEOUT_S,
        )

    def _wait_gateway(self, check: Callable[[], None]) -> None:
        wait_for(
            lambda: self._responds(self.probe_port, "/readyz", check), "the gateway is ready", START_TIMEOUT_S
        )

    def _responds(self, port: int, path: str, check: Callable[[], None]) -> bool:
        check()
        try:
            return httpx.get(f"http://127.0.0.1:{port}{path}", timeout=2, verify=NO_TLS).is_success
        except httpx.HTTPError:
            return False
