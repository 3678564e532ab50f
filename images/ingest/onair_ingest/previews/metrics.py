"""Metrics of previews for Prometheus, collected when it scrapes."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from onair_ingest.previews.previews import Previews


class PreviewMetrics(Collector):
    def __init__(self, previews: Previews) -> None:
        self._previews = previews

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "onair_ingest_previews_wanted",
            "Previews that are to be in rooms.",
            value=float(self._previews.wanted),
        )
        yield GaugeMetricFamily(
            "onair_ingest_previews_joined", "Previews that are.", value=float(self._previews.joined)
        )
