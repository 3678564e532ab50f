"""Fixtures of benches, some in the cluster of the e2e tests; writes figures to build/bench/results.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.support.fixtures.cluster import cluster, facade_client, make_show, path, receiver
from tests.support.fixtures.control_plane import (
    admin,
    control_plane,
    crds,
    kubeconfig,
    namespace,
    redis_server,
)

from onair_dev import bench_results

__all__ = [
    "admin",
    "cluster",
    "control_plane",
    "crds",
    "facade_client",
    "kubeconfig",
    "make_show",
    "namespace",
    "path",
    "receiver",
    "redis_server",
]

FIGURES: list[bench_results.Figure] = []


@pytest.fixture
def report() -> Callable[..., float]:
    """Records a figure: name, samples, unit, and its upper or lower bound; returns the median."""

    def keep(
        name: str, samples: list[float], unit: str, bound: float | None = None, at_least: float | None = None
    ) -> float:
        figure = bench_results.figure(name, samples, unit, bound, at_least)
        bench_results.keep(figure)
        FIGURES.append(figure)
        return float(figure["median"])

    return keep


@pytest.fixture(scope="session", autouse=True)
def table(request: pytest.FixtureRequest) -> Iterator[None]:
    """Prints all figures at the end of the session."""
    yield
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\n\n{'figure':<64} {'median':>12}   {'spread':<18} bound")
        for each in FIGURES:
            samples = each["samples"]
            spread = f"{min(samples):.3f} – {max(samples):.3f}" if len(samples) > 1 else ""
            verdict = {None: "", True: "met", False: "MISSED"}[bench_results.met(each)]
            median = f"{each['median']:.3f} {each['unit']}"
            print(f"{each['name']:<64} {median:>12}   {spread:<18} {bench_results.bound_of(each)} {verdict}")
