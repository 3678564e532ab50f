"""Metrics of what is measured of streams for Prometheus, collected when it scrapes."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from onair_ingest.measure.srt_losses import SrtLosses
from onair_ingest.metrics import OF_STREAM


class SrtMetrics(Collector):
    def __init__(self, losses: SrtLosses) -> None:
        self._losses = losses

    def collect(self) -> Iterator[Metric]:
        lost = CounterMetricFamily(
            "onair_ingest_srt_lost_packets",
            "SRT packets of the present connection that were lost at first.",
            labels=OF_STREAM,
        )
        for state, packets in self._losses.known():
            lost.add_metric([state.stream, state.protocol], packets)
        yield lost
