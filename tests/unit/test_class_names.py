"""A class of tests has its name alone: neither a program nor another test has one that is named so."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (
    "api/onair_api",
    "crds/onair_crds",
    "dev/onair_dev",
    "images/encoder/onair_encoder",
    "images/ingest/onair_ingest",
    "operator/onair_operator",
    "tests",
)


def files_of_classes() -> dict[str, list[str]]:
    """Files by the names of the classes that are defined in them, also within other classes and functions."""
    files: dict[str, list[str]] = defaultdict(list)
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    files[node.name].append(str(path.relative_to(ROOT)))
    return files


def test_a_class_of_tests_has_its_name_alone() -> None:
    """A reader takes a double for what it stands for, or for the double of another file."""
    found = files_of_classes()
    places = [each for files in found.values() for each in files]
    assert [folder for folder in SOURCES if not any(each.startswith(f"{folder}/") for each in places)] == []
    shared = [
        f"{name}: {', '.join(files)}"
        for name, files in sorted(found.items())
        if len(files) > 1 and any(each.startswith("tests/") for each in files)
    ]
    assert not shared, "classes of one name:\n" + "\n".join(shared)
