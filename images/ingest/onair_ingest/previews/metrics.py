"""Metrics of previews for Prometheus, collected when it scrapes."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from onair_ingest.hls.windows import Windows
from onair_ingest.previews.previews import Previews


class PreviewMetrics(Collector):
    def __init__(self, previews: Previews, windows: Windows) -> None:
        self._previews, self._windows = previews, windows

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "onair_ingest_previews_wanted",
            "Previews that should be in rooms.",
            value=float(self._previews.wanted),
        )
        yield GaugeMetricFamily(
            "onair_ingest_previews_joined", "Previews that are.", value=float(self._previews.joined)
        )
        yield GaugeMetricFamily(
            "onair_ingest_hls_streams",
            "Streams that are played by HLS; 0 shortly after the last.",
            value=float(self._windows.count),
        )
