"""Evaluates a Grafana dashboard as Grafana does: variables, panels with their queries, values with units."""

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
"""Grafana's defaults for a panel without thresholds."""
RATE_INTERVALS = 4
"""Number of scrape intervals in Grafana's `$__rate_interval`."""


@dataclass(frozen=True)
class Line:
    """A series with its name in the legend."""

    name: str
    series: Series

    @property
    def last(self) -> float:
        return self.series.values[max(self.series.values)]


@dataclass(frozen=True)
class PanelData:
    """A panel with the results of its queries."""

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
        """Returns the name of a value's color by the panel's thresholds."""
        steps = self.defaults.get("thresholds", THRESHOLDS)["steps"]
        reached = [step["color"] for step in steps if step["value"] is None or value >= step["value"]]
        return str(reached[-1])

    def scale(self, highest: float) -> tuple[float, str]:
        """Returns the factor and suffix with which values up to this one are displayed."""
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
    """A dashboard that queries a Prometheus about the time of some scrapes, from when rates are available."""

    def __init__(self, file: Path, prometheus: Prometheus, scrapes: Scrapes) -> None:
        self._model = json.loads(file.read_text())
        self._prometheus = prometheus
        self.step_s, rate_s = scrapes.interval_s, RATE_INTERVALS * scrapes.interval_s
        self.began_s, self.ended_s = scrapes.began_s + rate_s, scrapes.ended_s
        self.title = str(self._model["title"])
        self.shown: dict[str, str] = {}
        """Label of each variable and its selected value."""
        self._variables = {"__interval": f"{self.step_s}s", "__rate_interval": f"{rate_s}s"}
        for variable in self._model["templating"]["list"]:
            if variable["type"] == "query":
                self._select(variable)

    def _select(self, variable: Mapping[str, Any]) -> None:
        """Selects All if offered, otherwise the first value."""
        name, query = variable["name"], self._fill(variable["definition"])
        lookup = re.fullmatch(r"label_values\((?P<selector>.+), (?P<label>\w+)\)", query)
        if lookup is None:
            raise Failed(f"dashboard: variable {name}: {query} is not a supported query")
        values = self._prometheus.label_values(
            lookup["label"], lookup["selector"], self.began_s, self.ended_s
        )
        if not values:
            raise Failed(f"dashboard: variable {name}: {query} has no result")
        every = variable.get("includeAll", False)
        self.shown[variable["label"]] = "All" if every else values[0]
        self._variables[name] = variable["allValue"] if every else values[0]

    def _fill(self, query: str) -> str:
        return re.sub(r"\$(\w+)", lambda found: self._variables[found[1]], query)

    def panels(self) -> list[PanelData]:
        """Queries the data of all panels.

        Raises:
            Failed: a query has no result.
        """
        return [self._query(panel) for panel in self._model["panels"]]

    def _query(self, panel: Mapping[str, Any]) -> PanelData:
        lines = []
        for target in panel["targets"]:
            query = self._fill(target["expr"])
            found = self._prometheus.query_range(query, self.began_s, self.ended_s, self.step_s)
            if not found:
                raise Failed(f"dashboard: {panel['title']}: {query} has no result", "fix the query")
            lines += [Line(named(target["legendFormat"], series), series) for series in found]
        return PanelData(panel, lines)


def named(legend: str, series: Series) -> str:
    """A legend with the labels of a series filled in."""
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: series.labels.get(found[1], ""), legend).strip()
