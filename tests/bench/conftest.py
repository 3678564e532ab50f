"""The benches share the cluster of the end-to-end tests; their figures go to build/bench/."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import cluster, facade, make_show, path, receiver

__all__ = ["cluster", "facade", "make_show", "path", "receiver"]

BUILD = Path(__file__).parents[2] / "build/bench"
ROWS: list[tuple[str, str, str, str]] = []


@pytest.fixture
def report() -> Callable[..., None]:
    """Keeps one figure: name, samples, unit, the bound it is to meet."""

    def keep(
        name: str, samples: list[float], unit: str, bound: float | None = None, at_least: float | None = None
    ) -> float:
        median = statistics.median(samples)
        BUILD.mkdir(parents=True, exist_ok=True)
        figure: dict[str, Any] = {
            "name": name,
            "median": median,
            "samples": samples,
            "unit": unit,
            "bound": bound,
            "at_least": at_least,
        }
        (BUILD / f"{name.replace(' ', '-').replace('→', 'to')}.json").write_text(json.dumps(figure, indent=1))
        spread = f"{min(samples):.3f} – {max(samples):.3f}" if len(samples) > 1 else ""
        verdict = ""
        if bound is not None:
            verdict = f"≤ {bound:g} {'met' if median <= bound else 'MISSED'}"
        if at_least is not None:
            verdict = f"≥ {at_least:g} {'met' if median >= at_least else 'MISSED'}"
        ROWS.append((name, f"{median:.3f} {unit}", spread, verdict))
        return median

    return keep


@pytest.fixture(scope="session", autouse=True)
def table(request: pytest.FixtureRequest) -> Iterator[None]:
    """Prints all figures at the end."""
    yield
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\n\n{'figure':<44} {'median':>12}   {'spread':<18} bound")
        for name, median, spread, verdict in ROWS:
            print(f"{name:<44} {median:>12}   {spread:<18} {verdict}")
