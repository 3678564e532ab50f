"""Metrics of shows and sources: how many are in each phase and state, and how long it took to go on air."""

from __future__ import annotations

import collections
from collections.abc import Iterator

from prometheus_client import REGISTRY, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from onair_crds.contract.pod import SandboxMode
from onair_crds.contract.times import parse_time
from onair_crds.kube.store import Entry, Store
from onair_crds.resources.enums import BroadcastPhase, ConnectState
from onair_crds.resources.project import BroadcastStatus
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import PROJECT, SOURCE

TIME_TO_AIR = Histogram(
    "onair_operator_time_to_air_seconds",
    "From when the operator found a broadcast wanted to its first media.",
    buckets=(0.5, 1, 1.5, 2, 3, 5, 8, 15, 30, 60, 120, 300, 600),
)

TRIGGERED = Counter(
    "onair_operator_triggered_total", "Broadcasts that a source has started or stopped.", ["action"]
)

SANDBOX = Gauge("onair_operator_encoder_sandbox", "1 for the sandbox mode of new encoder pods.", ["mode"])


def record_sandbox(mode: SandboxMode) -> None:
    """Sets the metric of the sandbox that encoders are started with."""
    for each in SandboxMode:
        SANDBOX.labels(each.value).set(each is mode)


def record_triggers(before: BroadcastStatus | None, after: BroadcastStatus) -> None:
    """Counts a run that a source has just started or stopped."""
    same = before if before and before.id == after.id else None
    if after.started_by and same is None:
        TRIGGERED.labels("start").inc()
    if after.stopped_by and not (same and same.stopped_by):
        TRIGGERED.labels("stop").inc()


def record_time_to_air(before: BroadcastStatus | None, after: BroadcastStatus) -> None:
    """Counts a run that has just gone on air for the first time."""
    if after.start and after.requested and not (before and before.id == after.id and before.start):
        waited = parse_time(after.start) - parse_time(after.requested)
        TIME_TO_AIR.observe(max(0.0, waited.total_seconds()))


class ShowCollector(Collector):
    """Counts shows at each scrape, from their statuses, so that every replica has the same figures."""

    def __init__(self) -> None:
        self.store: Store | None = None
        """What this process knows; set once there is one."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        statuses = [entry.document.get("status") or {} for entry in self._entries(PROJECT)]
        phases = collections.Counter(map(_phase, statuses))
        by_phase = GaugeMetricFamily("onair_operator_shows", "Projects by phase.", labels=["phase"])
        for phase in BroadcastPhase:
            by_phase.add_metric([phase.value], phases[phase.value])
        yield by_phase
        on_slate = sum(map(_on_slate, statuses))
        yield GaugeMetricFamily("onair_operator_shows_on_slate", "Shows with the slate on air.", on_slate)
        yield GaugeMetricFamily(
            "onair_operator_shows_with_failed_layers",
            "Shows on air with layers that cannot be shown.",
            sum(map(_layers_failed, statuses)),
        )
        connected = collections.Counter(entry.status.get("connect") for entry in self._entries(SOURCE))
        by_state = GaugeMetricFamily("onair_operator_sources", "Sources by state.", labels=["connect"])
        for state in ConnectState:
            by_state.add_metric([state.value], connected[state.value])
        yield by_state

    def _entries(self, kind: str) -> list[Entry]:
        return self.store.entries(kind) if self.store else []


def _phase(status: Document) -> str:
    return str((status.get("broadcast") or {}).get("phase") or BroadcastPhase.NOT_RUNNING.value)


def _on_slate(status: Document) -> bool:
    return any(each["type"] == "OnAir" and each["reason"] == "Slate" for each in status.get("conditions", []))


def _layers_failed(status: Document) -> bool:
    conditions = status.get("conditions", [])
    return any(each["type"] == "LayerFailed" and each["status"] == "True" for each in conditions)


SHOWS = ShowCollector()
REGISTRY.register(SHOWS)
