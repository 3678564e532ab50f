"""Measures a tenant's requests and events alone, and while another does all that their token lets them.

Figures of both are of one run and one facade, with the limits that an installation has.
"""

from __future__ import annotations

import json
import queue
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from tests.support.facade import Cluster
from tests.support.redis_server import RedisServer
from tests.support.replica import LOAD, MeasuredProcess, Replica
from websockets.sync.client import connect

STREAMS, WILDCARDS = 1000, 256
MEASURED_S, PER_S = 20.0, 25
BOUND = 2.0
"""Times what it is alone."""


class Quiet:
    """A tenant that reads a project and publishes, each 25 times a second, and notes how long it takes."""

    def __init__(self, port: int, token: str) -> None:
        self._http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token}"}, trust_env=False
        )
        made = self._ok("POST", "/live/v2/collection", {})["collection"]["collectionId"]
        path = f"/live/v2/collection/{made}/project"
        self._path = f"{path}/{self._ok('POST', path, {})['project']['projectId']}"
        url = f"ws://127.0.0.1:{port}/event/v2/stream?subscribe.name=tick&access_token={token}"
        self._socket = connect(url, compression=None, proxy=None)
        self._socket.recv(10)

    def _ok(self, method: str, path: str, body: object = None) -> dict[str, dict[str, str]]:
        response = self._http.request(method, path, json=body).raise_for_status()
        return response.json()  # type: ignore[no-any-return]

    def measure(self) -> tuple[list[float], list[float]]:
        """Milliseconds of each request, and from each publish to its event."""
        requests: list[float] = []
        events: queue.Queue[float] = queue.Queue()
        count = round(MEASURED_S * PER_S)

        def receive() -> None:
            for _ in range(count):
                event = json.loads(self._socket.recv(30))["result"]["event"]
                events.put((time.monotonic() - event["payload"]["sent"]) * 1000)

        receiver = threading.Thread(target=receive)
        receiver.start()
        began = time.monotonic()
        for number in range(count):
            time.sleep(max(0.0, began + number / PER_S - time.monotonic()))
            sent = time.monotonic()
            self._ok("GET", self._path)
            requests.append((time.monotonic() - sent) * 1000)
            self._ok("POST", "/event/v2/publish", {"name": "tick", "payload": {"sent": time.monotonic()}})
        receiver.join(30)
        assert events.qsize() == count, "each event came"
        return requests, [events.get() for _ in range(count)]


def p99(of: list[float]) -> float:
    return statistics.quantiles(of, n=100)[-1]


def test_a_hostile_tenant_costs_another_little(
    tmp_path: Path,
    programs: list[MeasuredProcess],
    rights: Path,
    cluster: Cluster,
    api_key: str,
    redis_server: RedisServer,
    report: Callable[..., float],
) -> None:
    replica = Replica(tmp_path, programs, rights, cluster, api_key, redis_server.url, usual_limits=True)
    quiet = Quiet(replica.port, replica.token)
    alone = quiet.measure()
    other = replica.sign_in(cluster.add_api_key("stranger"), "mallory")
    arguments = [str(replica.port), other, str(STREAMS), str(WILDCARDS)]
    attacker = MeasuredProcess([str(LOAD / "hostile_tenant.py"), *arguments])
    programs.append(attacker)
    assert attacker.line() == {"open": STREAMS}
    used = replica.program.cpu_s()
    among = quiet.measure()
    used = replica.program.cpu_s() - used
    report("hostile tenant: CPU of the facade meanwhile", [used / MEASURED_S], "core")
    said, _ = attacker.process.communicate("end\n", timeout=60)
    print(f"the attacker was answered: {said.strip()}")
    ratios = []
    for what, mine, beside in zip(("request", "publish → event"), alone, among, strict=True):
        for name, percentile in (("p50", statistics.median), ("p99", p99)):
            report(f"hostile tenant: another's {what} alone, {name}", [percentile(mine)], "ms")
            report(f"hostile tenant: another's {what} beside it, {name}", [percentile(beside)], "ms")
        ratio = p99(beside) / p99(mine)
        ratios.append(report(f"hostile tenant: {what} p99, beside it ÷ alone", [ratio], "×", BOUND))
    assert max(ratios) < 2 * BOUND
