"""Measures the ways of a pushed stream into a page side by side: access units, fMP4 by MSE, WHEP."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.ingest.clip import clicks_ms, make_clip
from tests.support.ingest.watched_page import WatchedPage, cpu_share

CLIP_S = 75.0
FRAMES = 400
SKIPPED = 60
"""Pictures of a page that has just begun."""
CPU_S = 12.0
LATENCY_BOUND_S, AV_BOUND_MS, CPU_BOUND = 0.35, 40.0, 0.2
WAYS = ("access-units", "mse", "whep")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mkv", CLIP_S)


@pytest.mark.parametrize("way", WAYS)
def test_way_into_a_page(report: Callable[..., float], tmp_path: Path, clip: Path, way: str) -> None:
    chosen = way == WAYS[0]
    with WatchedPage(tmp_path) as watched:
        watched.show("empty")
        idle = cpu_share(watched, CPU_S / 2)
        watched.push(clip)
        query = {}
        if way == "whep":
            watched.transcode("one", "small")
            query = {"whep": f"http://{watched.server.address}:8889/live/small/whep"}
            watched.pair.allow(f"{watched.server.address}:8889", f"{watched.server.address}:8189")
        watched.show(way, watch="1", **query)
        seen = watched.wait_seen(FRAMES)
        latencies = seen.latencies_ms(watched.arrivals.at_ms)[SKIPPED:]
        offset = seen.av_offset_ms(clicks_ms(CLIP_S))
        watched.show(way, **query)
        cpu = cpu_share(watched, CPU_S) - idle
    p95 = statistics.quantiles(latencies, n=20)[-1] / 1000
    report(f"push → page by {way}, p50", [statistics.median(latencies) / 1000], "s")
    report(f"push → page by {way}, p95", [p95], "s", LATENCY_BOUND_S if chosen else None)
    assert offset is not None or not chosen, "clicks and pictures do not fit"
    if offset is not None:
        report(f"A/V offset on the page by {way}", [offset], "ms", AV_BOUND_MS if chosen else None)
    report(f"browser's CPU for a 720p30 source by {way}", [cpu], "cores", CPU_BOUND if chosen else None)
    if chosen:
        assert p95 < LATENCY_BOUND_S * 2
        assert offset is not None
        assert abs(offset) < AV_BOUND_MS * 2
        assert cpu < CPU_BOUND * 2
