"""A Grafana dashboard as Grafana reads it: variables, panels, their queries, values with units."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onair_dev.docs.prometheus import Prometheus, Scrapes, Series
from onair_dev.failures import Failed

UNITS: dict[str, list[tuple[float, str]]] = {
    "short": [(1, ""), (1e3, " K"), (1e6, " Mil")],
    "fps": [(1, " fps")],
    "bps": [(1, " b/s"), (1e3, " kb/s"), (1e6, " Mb/s"), (1e9, " Gb/s")],
    "bytes": [(1, " B"), (2**10, " KiB"), (2**20, " MiB"), (2**30, " GiB")],
    "s": [(1e-3, " ms"), (1, " s")],
}
"""Factor and suffix of each scale of a unit, the smallest first."""

THRESHOLDS = {"steps": [{"color": "green", "value": None}, {"color": "red", "value": 80}]}
"""What Grafana takes where a panel has none."""
RATE_INTERVALS = 4
"""Intervals of scrapes that Grafana's `$__rate_interval` spans."""


@dataclass(frozen=True)
class Line:
    """A series under the name that its legend gives it."""

    name: str
    series: Series

    @property
    def last(self) -> float:
        return self.series.values[max(self.series.values)]


@dataclass(frozen=True)
class Answered:
    """A panel with the data of its queries."""

    panel: Mapping[str, Any]
    lines: list[Line]

    @property
    def title(self) -> str:
        return str(self.panel["title"])

    @property
    def is_stat(self) -> bool:
        return bool(self.panel["type"] == "stat")

    @property
    def defaults(self) -> Mapping[str, Any]:
        return dict(self.panel["fieldConfig"]["defaults"])

    def color(self, value: float) -> str:
        """The name of the color that the panel's thresholds give a value."""
        steps = self.defaults.get("thresholds", THRESHOLDS)["steps"]
        reached = [step["color"] for step in steps if step["value"] is None or value >= step["value"]]
        return str(reached[-1])

    def scale(self, highest: float) -> tuple[float, str]:
        """Factor and suffix in which values up to this one are best read."""
        unit = self.defaults["unit"]
        if unit not in UNITS:
            raise Failed(
                f"dashboard: {self.title}: unit {unit} cannot be drawn",
                "add it to dev/onair_dev/docs/dashboard.py",
            )
        fitting = [each for each in UNITS[unit] if highest >= each[0]]
        return fitting[-1] if fitting else UNITS[unit][0]

    def text(self, value: float) -> str:
        factor, suffix = self.scale(abs(value))
        decimals = self.defaults.get("decimals")
        number = value / factor
        return (f"{number:.3g}" if decimals is None else f"{number:.{decimals}f}") + suffix


class Dashboard:
    """A dashboard that asks a Prometheus about the time of some scrapes, once there are rates."""

    def __init__(self, file: Path, prometheus: Prometheus, scrapes: Scrapes) -> None:
        self._model = json.loads(file.read_text())
        self._prometheus = prometheus
        self.step_s, rate_s = scrapes.interval_s, RATE_INTERVALS * scrapes.interval_s
        self.began_s, self.ended_s = scrapes.began_s + rate_s, scrapes.ended_s
        self.title = str(self._model["title"])
        self.shown: dict[str, str] = {}
        """Label of each variable and what is chosen."""
        self._variables = {"__interval": f"{self.step_s}s", "__rate_interval": f"{rate_s}s"}
        for variable in self._model["templating"]["list"]:
            if variable["type"] == "query":
                self._choose(variable)

    def _choose(self, variable: Mapping[str, Any]) -> None:
        """All where that is offered, else the first value there is."""
        name, query = variable["name"], self._fill(variable["definition"])
        asked = re.fullmatch(r"label_values\((?P<selector>.+), (?P<label>\w+)\)", query)
        if asked is None:
            raise Failed(f"dashboard: variable {name}: {query} is not of a known form")
        values = self._prometheus.label_values(asked["label"], asked["selector"], self.began_s, self.ended_s)
        if not values:
            raise Failed(f"dashboard: variable {name}: nothing answers {query}")
        every = variable.get("includeAll", False)
        self.shown[variable["label"]] = "All" if every else values[0]
        self._variables[name] = variable["allValue"] if every else values[0]

    def _fill(self, query: str) -> str:
        return re.sub(r"\$(\w+)", lambda found: self._variables[found[1]], query)

    def answered(self) -> list[Answered]:
        """All panels with their data.

        Raises:
            Failed: a query has none.
        """
        return [self._answered(panel) for panel in self._model["panels"]]

    def _answered(self, panel: Mapping[str, Any]) -> Answered:
        lines = []
        for target in panel["targets"]:
            query = self._fill(target["expr"])
            found = self._prometheus.query_range(query, self.began_s, self.ended_s, self.step_s)
            if not found:
                raise Failed(f"dashboard: {panel['title']}: nothing answers {query}", "mend the query")
            lines += [Line(named(target["legendFormat"], series), series) for series in found]
        return Answered(panel, lines)


def named(legend: str, series: Series) -> str:
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: series.labels.get(found[1], ""), legend).strip()
