"""Stores the figures of benches in one JSON file, by stable ASCII keys, and compares two such files."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import TypedDict

from onair_dev.settings import BUILD

RESULTS = BUILD / "bench/results.json"
WORDS = {"→": " to ", "÷": " per ", "×": "x", "…": " ", "%": " percent "}


class Figure(TypedDict):
    """An entry of the file: what a bench measured, and the bound that it is to meet."""

    name: str
    unit: str
    median: float
    samples: list[float]
    bound: float | None
    at_least: float | None


def key_of(name: str) -> str:
    """Derives the key of a figure: `POST start → first packet` gives `post_start_to_first_packet`."""
    for sign, word in WORDS.items():
        name = name.replace(sign, word)
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def figure(name: str, samples: list[float], unit: str, bound: float | None, at_least: float | None) -> Figure:
    """Builds an entry of the file."""
    return {
        "name": name,
        "unit": unit,
        "median": statistics.median(samples),
        "samples": samples,
        "bound": bound,
        "at_least": at_least,
    }


def keep(entry: Figure, file: Path = RESULTS) -> None:
    """Stores a figure in the file; replaces one with the same key and keeps the others."""
    known = json.loads(file.read_text()) if file.exists() else {}
    known[key_of(entry["name"])] = entry
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    draft.replace(file)


def met(entry: Figure) -> bool | None:
    """Whether a figure meets its bound; None if it has none."""
    if entry["bound"] is not None:
        return bool(entry["median"] <= entry["bound"])
    if entry["at_least"] is not None:
        return bool(entry["median"] >= entry["at_least"])
    return None


def bound_of(entry: Figure) -> str:
    """Formats the bound of a figure: `≤ 1.08`, `≥ 0.6` or an empty string."""
    if entry["bound"] is not None:
        return f"≤ {entry['bound']:g}"
    return f"≥ {entry['at_least']:g}" if entry["at_least"] is not None else ""


def compare(before: Path, after: Path) -> str:
    """Returns a Markdown table of the figures that are in both files."""
    old, new = (json.loads(file.read_text()) for file in (before, after))
    lines = ["| Figure | before | after | unit | bound |", "|---|---|---|---|---|"]
    for key in sorted(old.keys() & new.keys()):
        entry = new[key]
        medians = f"{old[key]['median']:.3f} | {entry['median']:.3f}"
        lines.append(f"| {entry['name']} | {medians} | {entry['unit']} | {bound_of(entry)} |")
    return "\n".join(lines)
