"""Measures what a tenant with many streams and events, all within its limits, costs another's delivery."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.support.facade import StoredResources
from tests.support.quiet_tenant import QuietTenant
from tests.support.replica import MeasuredProcess, ReplicaProcess, subscribers
from websockets.sync.client import ClientConnection, connect

STREAMS, EVENTS_PER_S = 100, 10
"""A thousand deliveries a second."""
ROUNDS, ROUND_S = 6, 4.0
BOUND = 1.1
"""Times what it is alone."""


@contextmanager
def busy(publisher: ClientConnection) -> Iterator[None]:
    """The busy tenant publishes meanwhile, to all of its streams."""
    ended = threading.Event()

    def publish() -> None:
        began_s, number = time.monotonic(), 0
        while not ended.wait(max(0.0, began_s + number / EVENTS_PER_S - time.monotonic())):
            payload = {"sent": time.monotonic(), "text": "x" * 100}
            publisher.send(json.dumps({"publish": {"name": "busy:tick", "payload": payload}}))
            number += 1

    publishing = threading.Thread(target=publish)
    publishing.start()
    try:
        yield
    finally:
        ended.set()
        publishing.join()


def test_a_busy_tenant_costs_anothers_delivery_little(
    limited_replica: ReplicaProcess,
    programs: list[MeasuredProcess],
    resources: StoredResources,
    report: Callable[..., float],
) -> None:
    """In turns, as machines are noisy."""
    replica = limited_replica
    quiet = QuietTenant(replica.port, replica.token)
    token = replica.sign_in(resources.add_api_key("busy"), "mallory")
    load = subscribers(programs, replica.port, "/event/v2/stream?subscribe.name=busy:*", token, STREAMS)
    url = f"ws://127.0.0.1:{replica.port}/event/v2/stream?access_token={token}"
    alone, beside = [], []
    with connect(url, compression=None, proxy=None, ping_interval=None, max_queue=None) as publisher:
        load.measure(EVENTS_PER_S)
        with busy(publisher):
            assert load.line()["deliveries"] == EVENTS_PER_S * STREAMS, "all of its streams are sent to"
        for _ in range(ROUNDS):
            alone += quiet.measure(ROUND_S)[1]
            with busy(publisher):
                beside += quiet.measure(ROUND_S)[1]
    for name, samples in (("alone", alone), ("beside a busy tenant", beside)):
        report(f"busy tenant: another's publish → event {name}, p50", [statistics.median(samples)], "ms")
        report(
            f"busy tenant: another's publish → event {name}, p95",
            [statistics.quantiles(samples, n=20)[-1]],
            "ms",
        )
    ratio = statistics.median(beside) / statistics.median(alone)
    assert report("busy tenant: publish → event p50, beside it ÷ alone", [ratio], "×", BOUND) < 2 * BOUND
