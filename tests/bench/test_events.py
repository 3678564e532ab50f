"""Event fan-out against a bare `websockets` broadcast in the same run, and what idle streams cost.

Servers and subscribers are processes of their own. Throughput counts the
server's processor time, so it is deliveries per second of one core, whatever
else the machine does.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from tests.control_plane import free_port
from tests.integration.api.conftest import api_key, recorded_logs, rights
from tests.integration.api.conftest import cluster as show_cluster
from tests.integration.api.facade import Cluster, wait_for
from tests.integration.conftest import (
    RedisServer,
    admin,
    control_plane,
    crds,
    kubeconfig,
    redis_server,
)
from websockets.sync.client import connect

__all__ = [
    "admin",
    "api_key",
    "control_plane",
    "crds",
    "kubeconfig",
    "recorded_logs",
    "redis_server",
    "rights",
]

HERE = Path(__file__).parent / "events"
SUBSCRIBERS = 1000
PACED, PACED_PER_S = 50, 10
BURST = 200
IDLE = 5000
PAYLOAD = {"text": "x" * 100}
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="session")
def cluster(admin: httpx.Client, crds: None) -> Cluster:
    """The namespaces of the facade; no nodes are needed."""
    return show_cluster.__wrapped__(admin, crds)  # type: ignore[attr-defined,no-any-return]


class Program:
    """A server in a process of its own."""

    def __init__(self, command: list[str], **environment: str) -> None:
        paths = os.pathsep.join(p for p in sys.path if p)
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, "PYTHONPATH": paths, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
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


@pytest.fixture
def programs() -> Iterator[list[Program]]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    started: list[Program] = []
    yield started
    for each in started:
        each.end()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Replica:
    """One facade with a token of a host."""

    def __init__(
        self, folder: Path, programs: list[Program], rights: Path, cluster: Cluster, key: str, redis: str
    ) -> None:
        self.port = free_port()
        config = folder / "config.yaml"
        config.write_text(
            yaml.safe_dump(
                {
                    "listen": {"host": "127.0.0.1", "port": self.port},
                    "showNamespace": cluster.shows,
                    "releaseNamespace": cluster.release,
                    "redis": {"url": redis},
                    "events": {"sessionsPerToken": 100_000},
                    "rateLimits": {"perToken": 0, "perService": 0},  # all streams are one token's
                    "logLevel": "ERROR",
                }
            )
        )
        self.program = Program(["-m", "onair_api"], ONAIR_CONFIG=str(config), KUBECONFIG=str(rights))
        programs.append(self.program)
        url = f"http://127.0.0.1:{self.port}"
        wait_for(lambda: _ready(url), "the facade is ready")
        answer = wait_for(
            lambda: (
                (
                    a := httpx.post(
                        f"{url}/live/v2/authentication/token",
                        headers={"X-API-Key": key},
                        json={"serviceUserId": "bench"},
                        trust_env=False,
                    )
                ).is_success
                and a
            ),
            "the API key is known",
        )
        self.token = answer.json()["accessToken"]
        wait_for(
            lambda: "onair_api_redis_connected 1.0" in httpx.get(f"{url}/metrics", trust_env=False).text,
            "Redis",
        )


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False).is_success
    except httpx.TransportError:
        return False


@pytest.fixture
def replica(
    tmp_path: Path,
    programs: list[Program],
    rights: Path,
    cluster: Cluster,
    api_key: str,
    redis_server: RedisServer,
) -> Replica:
    return Replica(tmp_path, programs, rights, cluster, api_key, redis_server.url)


def subscribers(programs: list[Program], port: int, path: str, token: str, count: int) -> Program:
    offered = f"Bearer, {token}" if token else ""
    load = Program([str(HERE / "subscribers.py"), "127.0.0.1", str(port), path, offered, str(count)])
    programs.append(load)
    assert load.line() == {"open": count}
    return load


class Figures:
    """What one server did for its subscribers."""

    def __init__(self, server: Program, load: Program, send: Callable[[], None]) -> None:
        started = server.cpu_s()
        load.measure(PACED)
        begun = time.monotonic()
        for number in range(PACED):
            time.sleep(max(0.0, begun + number / PACED_PER_S - time.monotonic()))
            send()
        self.paced = load.line()
        self.paced_per_core_s = self.paced["deliveries"] / (server.cpu_s() - started)
        started = server.cpu_s()
        load.measure(BURST)
        for _ in range(BURST):
            send()
        self.burst = load.line()
        self.burst_per_core_s = self.burst["deliveries"] / (server.cpu_s() - started)


def test_fan_out(programs: list[Program], replica: Replica, report: Callable[..., float]) -> None:
    load = subscribers(
        programs, replica.port, "/event/v2/stream?subscribe.name=bench:*", replica.token, SUBSCRIBERS
    )
    url = f"ws://127.0.0.1:{replica.port}/event/v2/stream?access_token={replica.token}"
    with connect(url, compression=None, proxy=None) as publisher:

        def publish() -> None:
            payload = {"sent": time.monotonic(), **PAYLOAD}
            publisher.send(json.dumps({"publish": {"name": "bench:tick", "payload": payload}}))

        ours = Figures(replica.program, load, publish)
    load.end()

    port = free_port()
    bare_server = Program([str(HERE / "bare_broadcast.py"), str(port)])
    programs.append(bare_server)
    wait_for(lambda: _listens(port), "the bare server listens")
    load = subscribers(programs, port, "/", "", SUBSCRIBERS)
    with connect(f"ws://127.0.0.1:{port}/in", compression=None, proxy=None) as publisher:
        event = {"id": "0" * 36, "name": "bench:tick"}

        def broadcast() -> None:
            payload = {"sent": time.monotonic(), **PAYLOAD}
            publisher.send(
                json.dumps({"result": {"sessionId": "0" * 36, "event": {**event, "payload": payload}}})
            )

        bare = Figures(bare_server, load, broadcast)

    for name, figures in (("events", ours), ("bare broadcast", bare)):
        report(f"{name}, publish to receipt p50", [figures.paced["p50_ms"]], "ms")
        report(f"{name}, publish to receipt p99", [figures.paced["p99_ms"]], "ms")
        report(f"{name}, deliveries per core second", [figures.paced_per_core_s], "per s")
        report(f"{name}, deliveries in a burst", [figures.burst_per_core_s], "per s")
    ratio = ours.paced_per_core_s / bare.paced_per_core_s
    report("events, share of bare broadcast", [ratio], "")
    report("events, share of bare broadcast in a burst", [ours.burst_per_core_s / bare.burst_per_core_s], "")
    assert ours.paced_per_core_s >= 20_000
    assert ratio >= 0.4


def test_idle_streams(programs: list[Program], replica: Replica, report: Callable[..., float]) -> None:
    before = replica.program.resident_mb()
    subscribers(programs, replica.port, "/event/v2/stream?subscribe.name=*", replica.token, IDLE)
    with_streams = replica.program.resident_mb()
    report(f"facade with {IDLE} idle streams", [with_streams], "MB", 500.0)
    report("one idle stream", [(with_streams - before) * 1024 / IDLE], "KB")
    assert with_streams < 500


def _listens(port: int) -> bool:
    try:
        with connect(f"ws://127.0.0.1:{port}/in", compression=None, proxy=None):
            return True
    except OSError:
        return False
