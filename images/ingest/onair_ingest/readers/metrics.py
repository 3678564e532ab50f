"""Metrics of readers for Prometheus, collected when it scrapes."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from onair_ingest.readers.readers import Readers

DROPPED = Counter(
    "onair_ingest_reader_dropped_total", "Records that were dropped because a reader was too slow."
)


class ReaderMetrics(Collector):
    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(
            "onair_ingest_readers",
            "Readers of a stream that is read from the media server; 0 shortly after the last.",
            labels=["stream"],
        )
        for stream, count in self._readers.played.items():
            family.add_metric([stream], count)
        yield family
