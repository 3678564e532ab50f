"""The gateway's metrics for Prometheus; what streams do is collected when it scrapes."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import Counter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from onair_ingest.streams.streams import Streams

ADMITTED = Counter("onair_ingest_admitted_total", "Publishers that were admitted.", ["protocol"])
REFUSED = Counter("onair_ingest_refused_total", "Publishers that were refused.", ["protocol", "reason"])
OF_STREAM = ["stream", "protocol"]


class StreamMetrics(Collector):
    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    def collect(self) -> Iterator[Metric]:
        flowing = GaugeMetricFamily("onair_ingest_flowing", "1 while media arrives.", labels=OF_STREAM)
        received = CounterMetricFamily(
            "onair_ingest_received_bytes", "Bytes of media of the present connection.", labels=OF_STREAM
        )
        framerate = GaugeMetricFamily(
            "onair_ingest_frames_per_second", "Frame rate of the video, measured.", labels=OF_STREAM
        )
        for judged in self._streams.all():
            state, path = judged.state, judged.look.path
            labels = [state.stream, state.protocol]
            flowing.add_metric(labels, float(state.flowing))
            received.add_metric(labels, path.inbound_bytes)
            if state.video and state.video.framerate:
                framerate.add_metric(labels, state.video.framerate)
        yield GaugeMetricFamily(
            "onair_ingest_server_responds",
            "1 while the ingest server's API responds.",
            value=float(self._streams.server_responds),
        )
        yield from (flowing, received, framerate)
