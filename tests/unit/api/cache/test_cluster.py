"""What the facade's watches count."""

from __future__ import annotations

from prometheus_client import REGISTRY

from onair_api.cache.cluster import WatchMetrics
from onair_api.cache.watched_kinds import PROJECT


def count(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"kind": PROJECT, **labels}) or 0.0


def test_events_and_restarts_of_watches_are_counted_by_kind() -> None:
    events, restarts = "onair_api_watch_events_total", "onair_api_watch_restarts_total"
    before = count(events, type="ADDED"), count(restarts, reason="gone")
    metrics = WatchMetrics()
    metrics.watch_event(PROJECT, "ADDED")
    metrics.watch_restarted(PROJECT, "gone")
    assert (count(events, type="ADDED"), count(restarts, reason="gone")) == (before[0] + 1, before[1] + 1)
