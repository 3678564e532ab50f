"""Compares event fan-out with a bare `websockets` broadcast in the same run; measures idle streams' memory.

Servers and subscribers run in separate processes. Throughput is per second of the server's CPU time, so it
is deliveries per second of one core, whatever else the machine does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from tests.support.control_plane import free_port
from tests.support.replica import LOAD, MeasuredProcess, ReplicaProcess, subscribers
from tests.support.waiting import wait_for
from websockets.sync.client import connect

SUBSCRIBERS = 1000
PACED, PACED_PER_S = 50, 10
BURST = 200
IDLE = 5000
PAYLOAD = {"text": "x" * 100}


class Figures:
    """Measures one server: paced events, then a burst."""

    def __init__(self, server: MeasuredProcess, load: MeasuredProcess, send: Callable[[], None]) -> None:
        started = server.cpu_s()
        load.measure(PACED)
        paced_at = time.monotonic()
        for number in range(PACED):
            time.sleep(max(0.0, paced_at + number / PACED_PER_S - time.monotonic()))
            send()
        self.paced = load.line()
        self.paced_per_core_s = self.paced["deliveries"] / (server.cpu_s() - started)
        started = server.cpu_s()
        load.measure(BURST)
        for _ in range(BURST):
            send()
        self.burst = load.line()
        self.burst_per_core_s = self.burst["deliveries"] / (server.cpu_s() - started)


def test_fan_out(
    programs: list[MeasuredProcess], replica: ReplicaProcess, report: Callable[..., float]
) -> None:
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
    bare_server = MeasuredProcess([str(LOAD / "bare_broadcast.py"), str(port)])
    programs.append(bare_server)
    wait_for(lambda: _is_listening(port), "the bare server listens")
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
        report(f"{name}, publish → receipt p50", [figures.paced["p50_ms"]], "ms")
        report(f"{name}, publish → receipt p99", [figures.paced["p99_ms"]], "ms")
        minimum = 20_000 if figures is ours else None
        report(f"{name}, deliveries per core", [figures.paced_per_core_s], "/s", at_least=minimum)
        report(f"{name}, deliveries per core in a burst", [figures.burst_per_core_s], "/s")
    ratio = ours.paced_per_core_s / bare.paced_per_core_s
    report("events ÷ bare broadcast, deliveries", [ratio], "", at_least=0.4)
    report("events ÷ bare broadcast, in a burst", [ours.burst_per_core_s / bare.burst_per_core_s], "")
    assert ours.paced_per_core_s >= 20_000 / 2
    assert ratio >= 0.4 / 2


def test_idle_streams(
    programs: list[MeasuredProcess], replica: ReplicaProcess, report: Callable[..., float]
) -> None:
    before = replica.program.resident_mb()
    subscribers(programs, replica.port, "/event/v2/stream?subscribe.name=*", replica.token, IDLE)
    with_streams = replica.program.resident_mb()
    report(f"memory of the facade with {IDLE} idle streams", [with_streams], "MB", 500.0)
    report("memory of an idle stream", [(with_streams - before) * 1024 / IDLE], "KB")
    assert with_streams < 500


def _is_listening(port: int) -> bool:
    try:
        with connect(f"ws://127.0.0.1:{port}/in", compression=None, proxy=None):
            return True
    except OSError:
        return False
