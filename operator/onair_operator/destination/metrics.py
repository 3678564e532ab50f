"""Metrics of destinations: what their recordings lack, as their status has it."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import DESTINATION


class RecordingCollector(Collector):
    """Looks at each scrape, so that every replica has the same figures, after the encoder is gone too."""

    def __init__(self) -> None:
        self.store: Store | None = None
        """What this process knows; set once there is one."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        missing = GaugeMetricFamily(
            "onair_operator_recording_missing_seconds",
            "Seconds of the last broadcast that are missing in a destination's recording.",
            labels=["destination"],
        )
        for entry in self.store.entries(DESTINATION) if self.store else []:
            lacks_ms = entry.status.get("recordingMissingMs")
            if isinstance(lacks_ms, int) and lacks_ms:
                missing.add_metric([entry.name], lacks_ms / 1000)
        yield missing


RECORDINGS = RecordingCollector()
REGISTRY.register(RECORDINGS)
