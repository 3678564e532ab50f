"""Draws the dashboard for the documentation, from the results of its queries about the last soak."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import math
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import MaxNLocator

from onair_dev.console_progress import Progress
from onair_dev.docs.dashboard import RATE_INTERVALS, Dashboard, Line, PanelData
from onair_dev.docs.prometheus import Scrapes, prometheus_of
from onair_dev.failures import Failed
from onair_dev.settings import ROOT

DASHBOARD = ROOT / "charts/onair/files/dashboards/onair-shows.json"
SCRAPES = ROOT / "build/soak/metrics"
PICTURE = ROOT / "docs/pictures/dashboard.png"
MAX_BYTES = 250_000
DISCOVERED = {"namespace": "shows", "onair_dev_project": "show", "pod": "show-run-1"}
"""Labels that the PodMonitor adds, which the soak's scrapes do not have."""

WIDTH, COLUMNS = 1600, 24
HEADER, MARGIN, GAP, ROW = 60, 16, 8, 38
DPI = 100
FONTS = ("Inter", "Roboto", "DejaVu Sans")
GROUND, PANEL, BORDER, GRID = "#111217", "#181b1f", "#2c2f36", "#2b2f36"
TEXT, DIM = "#ccccdc", "#9a9ba8"
NAMED = {"green": "#73bf69", "red": "#f2495c"}
SERIES = ("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9")
TIME_STEPS_S = (5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800)


def points(pixels: float) -> float:
    """Converts pixels to points, in which matplotlib measures text and lines."""
    return pixels * 72 / DPI


class Sheet:
    """The picture; coordinates are pixels from its upper left corner."""

    def __init__(self, panels: list[PanelData]) -> None:
        rows = max(each.panel["gridPos"]["y"] + each.panel["gridPos"]["h"] for each in panels)
        self.height = HEADER + rows * ROW + MARGIN - GAP
        self.figure = Figure((WIDTH / DPI, self.height / DPI), dpi=DPI, facecolor=GROUND)
        self.canvas = FigureCanvasAgg(self.figure)

    def text(self, x: float, y: float, words: str, size: float = 13, **style: Any) -> float:
        """Writes a text on the baseline y; returns the x of its end."""
        drawn = self.figure.text(
            x / WIDTH,
            1 - y / self.height,
            words,
            fontsize=points(size),
            **cast(Any, {"color": TEXT, "va": "baseline", **style}),
        )
        return float(drawn.get_window_extent(cast(Any, self.canvas).get_renderer()).x1)

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        area = (x / WIDTH, 1 - (y + height) / self.height, width / WIDTH, height / self.height)
        axes = self.figure.add_axes(area, facecolor="none")
        for spine in axes.spines.values():
            spine.set_visible(False)
        return axes

    def box(self, x: float, y: float, width: float, height: float) -> None:
        self.figure.add_artist(
            FancyBboxPatch(
                (x, self.height - y - height),
                width,
                height,
                boxstyle="round,pad=0,rounding_size=3",
                transform=None,
                facecolor=PANEL,
                edgecolor=BORDER,
                linewidth=points(1),
                zorder=-1,
            )
        )

    def png(self) -> bytes:
        out = io.BytesIO()
        self.figure.savefig(out, dpi=DPI, metadata={"Software": None}, pil_kwargs={"optimize": True})
        return out.getvalue()


class Drawing:
    """The panels of a dashboard on a sheet, all over the same time range."""

    def __init__(self, dashboard: Dashboard, panels: list[PanelData]) -> None:
        self.began_s, self.ended_s, self.step_s = dashboard.began_s, dashboard.ended_s, dashboard.step_s
        self.sheet = Sheet(panels)
        self._header(dashboard)
        for panel in panels:
            self._panel(panel)

    def _header(self, dashboard: Dashboard) -> None:
        line = 41
        x = self.sheet.text(MARGIN, line, dashboard.title, 20, weight="medium") + 28
        for label, chosen in dashboard.shown.items():
            x = self.sheet.text(x, line, label, color=DIM) + 8
            x = self.sheet.text(x, line, chosen) + 24
        began, ended = clock(self.began_s), clock(self.ended_s)
        day = dt.datetime.fromtimestamp(self.began_s, dt.UTC).date()
        self.sheet.text(WIDTH - MARGIN, line, f"{day}  {began} to {ended} UTC", color=DIM, ha="right")

    def _panel(self, panel: PanelData) -> None:
        grid = panel.panel["gridPos"]
        column = (WIDTH - 2 * MARGIN + GAP) / COLUMNS
        x, y = MARGIN + grid["x"] * column, HEADER + grid["y"] * ROW
        width, height = grid["w"] * column - GAP, grid["h"] * ROW - GAP
        self.sheet.box(x, y, width, height)
        self.sheet.text(x + 12, y + 22, panel.title, 14, weight="medium")
        if panel.is_stat:
            share = width / len(panel.lines)
            for number, line in enumerate(panel.lines):
                self._stat(panel, line, x + number * share, y + 32, share, height - 32)
        else:
            self._time_series(panel, x, y + 32, width, height - 32)

    def _stat(self, panel: PanelData, line: Line, x: float, y: float, width: float, height: float) -> None:
        """Draws the last value above the area of all values."""
        color = NAMED[panel.color(line.last)]
        area = self.sheet.axes(x + 1, y + height * 0.66, width - 2, height * 0.34 - 1)
        times, values = self._steps(line)
        known = [value for value in values if not math.isnan(value)]
        low, high = min(0.0, *known), max(known) or 1.0
        area.plot(times, values, color=color, linewidth=points(1))
        area.fill_between(times, values, low, color=color, alpha=0.15, linewidth=0)
        area.set(xlim=(times[0], times[-1]), ylim=(low, high * 1.1), xticks=[], yticks=[])
        middle = x + width / 2
        if len(panel.lines) > 1:
            self.sheet.text(middle, y + 14, line.name, 13, color=DIM, ha="center")
        text = panel.text(line.last)
        self.sheet.text(middle, y + height * 0.55, text, 38, color=color, ha="center", weight="medium")

    def _time_series(self, panel: PanelData, x: float, y: float, width: float, height: float) -> None:
        axes = self.sheet.axes(x + 74, y + 6, width - 92, height - 62)
        style = panel.defaults["custom"]
        where = "steps-post" if style.get("lineInterpolation") == "stepAfter" else "default"
        for color, line in zip(itertools.cycle(SERIES), panel.lines, strict=False):
            times, values = self._steps(line)
            axes.plot(times, values, color=color, linewidth=points(style["lineWidth"]), drawstyle=where)
            axes.fill_between(
                times,
                values,
                color=color,
                alpha=style["fillOpacity"] / 100,
                linewidth=0,
                step="post" if where == "steps-post" else None,
            )
        self._values_axis(panel, axes)
        self._time_axis(axes)
        self._legend(panel, x + 12, y + height - 14)

    def _values_axis(self, panel: PanelData, axes: Axes) -> None:
        highest = max(max(line.series.values.values()) for line in panel.lines)
        top = panel.defaults.get("max") or (None if highest else 1)
        factor, _ = panel.scale(highest)
        wanted = MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(0, (top or highest * 1.05) / factor)
        ticks = [tick for tick in wanted if top is None or tick * factor <= top]
        axes.set_ylim(panel.defaults.get("min"), top or ticks[-1] * factor)
        axes.set_yticks([tick * factor for tick in ticks], [panel.text(tick * factor) for tick in ticks])
        axes.grid(color=GRID, linewidth=points(1))
        axes.set_axisbelow(True)
        axes.tick_params(length=0, pad=6, colors=DIM, labelsize=points(12))

    def _time_axis(self, axes: Axes) -> None:
        began, ended = self.began_s, self.ended_s
        step_s = next((each for each in TIME_STEPS_S if (ended - began) / each <= 5), TIME_STEPS_S[-1])
        first = math.ceil(began / step_s) * step_s
        ticks = list(range(first, math.floor(ended) + 1, step_s))
        axes.set_xlim(began, ended)
        axes.set_xticks(ticks, [clock(tick)[: 8 if step_s < 60 else 5] for tick in ticks])

    def _legend(self, panel: PanelData, x: float, y: float) -> None:
        for color, line in zip(itertools.cycle(SERIES), panel.lines, strict=False):
            x = self.sheet.text(x, y, "━", 12, color=color, weight="bold", family="DejaVu Sans") + 6
            x = self.sheet.text(x, y, line.name, 12) + 16

    def _steps(self, line: Line) -> tuple[list[float], list[float]]:
        """Returns times and values, NaN for missing ones, so that the line has a gap there."""
        count = math.floor((self.ended_s - self.began_s) / self.step_s) + 1
        times = [self.began_s + number * self.step_s for number in range(count)]
        known = {round(at, 3): value for at, value in line.series.values.items()}
        return times, [known.get(round(at, 3), math.nan) for at in times]


def clock(at_s: float) -> str:
    """A time of day in UTC, for an axis."""
    return dt.datetime.fromtimestamp(at_s, dt.UTC).strftime("%H:%M:%S")


def use_font() -> None:
    """Selects the first of FONTS that is installed; the first is Grafana's."""
    there = set(font_manager.get_font_names())
    mpl.rcParams["font.family"] = [name for name in FONTS if name in there][:1]


def save(picture: bytes, path: Path) -> None:
    """Writes the picture.

    Raises:
        Failed: it is too large for the repository.
    """
    if len(picture) > MAX_BYTES:
        raise Failed(f"the picture has {len(picture)} bytes; the maximum is {MAX_BYTES}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture)


def draw() -> None:
    """Queries Prometheus and draws the picture.

    Raises:
        Failed: there are too few scrapes, Prometheus does not start, or the picture is too large.
    """
    scrapes = Scrapes.of(SCRAPES, DISCOVERED)
    if len(scrapes.files) <= 2 * RATE_INTERVALS:
        raise Failed(f"{SCRAPES.relative_to(ROOT)} has no scrapes, or too few", "make soak SOAK_S=120")
    with Progress() as progress:
        with progress.step("queries") as current, prometheus_of(current, scrapes) as prometheus:
            dashboard = Dashboard(DASHBOARD, prometheus, scrapes)
            panels = dashboard.panels()
            lines = sum(len(panel.lines) for panel in panels)
            current.detail = f"{len(panels)} panels, {lines} series of {len(scrapes.files)} scrapes"
        with progress.step("picture") as current:
            use_font()
            picture = Drawing(dashboard, panels).sheet.png()
            save(picture, PICTURE)
            current.detail = f"{PICTURE.relative_to(ROOT)} · {len(picture) // 1000} kB"
