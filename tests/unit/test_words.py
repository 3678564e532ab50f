"""Words that the glossary of CONTRIBUTING.md replaces are not used, except in names that users have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("api", "operator", "crds", "dev", "charts/onair", "docs", "examples"),
    *("images/encoder", "images/ingest", "images/demo", "images/web/compositor"),
)
SUFFIXES = {".py", ".ts", ".js", ".html", ".md", ".yaml", ".json", ".proto"}
HISTORY = ("docs/decisions/", "docs/benchmarks.md")
"""What was written then stays as it was written."""
GENERATED = {"node_modules", "dist", ".venv", "__pycache__", "_proto"}
INSTEAD = {
    r"\bprocess 1\b": "PID 1",
    r"\bpatience(?:_s)?\b": "timeout",
    r"\bnarrow lines?\b": "slow network",
    r"\banew\b": "again, start over",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bmade[- ]up\b": "generated",
    r"\bsteps? aside\b|\bfenced? off\b": "yield",
    r"\b(?:he|him|his|she|her|hers)\b": "they",
}
"""What to say, by what is not said."""


def texts() -> Iterator[tuple[str, str]]:
    """Sources and pages by their path, and those of the root."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    for path in (*files, ROOT / "README.md", ROOT / "Makefile"):
        name = str(path.relative_to(ROOT))
        if not name.startswith(HISTORY) and GENERATED.isdisjoint(path.parts) and path.is_file():
            yield name, path.read_text()


@pytest.fixture(scope="module")
def lines() -> list[tuple[str, int, str]]:
    return [(name, number, line) for name, text in texts() for number, line in enumerate(text.split("\n"), 1)]


def test_the_texts_are_found(lines: list[tuple[str, int, str]]) -> None:
    names = {name for name, _, _ in lines}
    assert {"README.md", "docs/reference/status.md", "images/web/compositor/src/main.ts"} <= names


@pytest.mark.parametrize("word", INSTEAD)
def test_a_word_that_the_glossary_replaces_is_not_used(lines: list[tuple[str, int, str]], word: str) -> None:
    pattern = re.compile(word, re.IGNORECASE)
    found = [f"{name}:{number}: {line.strip()[:100]}" for name, number, line in lines if pattern.search(line)]
    assert not found, f"say {INSTEAD[word]}: {found}"
