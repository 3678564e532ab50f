"""Measures glass to RTMP: from the page painting the time to the decoded frame at the receiver."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from tests.support.cluster import PROBE, address
from tests.support.media import probe
from tests.support.receiver import ReceiverClient, read_url
from tests.support.shows import FacadeClient

ROUNDS = 3


def test_glass_to_rtmp(
    facade_client: FacadeClient, receiver: ReceiverClient, path: str, report: Callable[..., float]
) -> None:
    show = facade_client.show(PROBE, 1280, 720)
    show.add_destination(**address(path))
    show.start()
    receiver.wait_ready(path, 60)
    show.wait_phase("RUNNING")
    samples = [
        latency
        for _ in range(ROUNDS)
        for latency in probe.live_latency_ms(read_url(path), width=1280, height=720)
    ]
    show.delete()
    p95 = statistics.quantiles(samples, n=20)[-1]
    report("glass to RTMP p50, decoding included", [statistics.median(samples) / 1000], "s")
    report("glass to RTMP p95, decoding included", [p95 / 1000], "s", 0.4)
    assert p95 / 1000 < 0.4 * 2
