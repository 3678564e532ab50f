"""Rules of the repository that a wrong file name would break."""

from __future__ import annotations

import ast
import operator
import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

import onair_api.metrics
import onair_operator.runtime

ROOT = Path(__file__).parents[2]


def test_the_folder_operator_never_shadows_the_standard_library() -> None:
    assert operator.add(1, 2) == 3
    for folder in ("operator", "api", "crds", "images", "images/encoder"):
        assert not (ROOT / folder / "__init__.py").exists()


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.name)
def test_tests_share_by_support_alone(path: Path) -> None:
    """A test that another imports from could not be moved, split or renamed by itself."""
    statements = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    modules = [node.module or "" for node in statements]
    assert [name for name in modules if name.startswith("tests.") and "support" not in name] == []


def test_the_walks_of_the_architecture_page_go_through_files_that_exist_and_stay_short() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    section = text[text.index("## Two walks") : text.index("## A reconcile")]
    walks = section.split("**A layer's update")
    assert len(walks) == 2
    for walk in walks:
        header, _, *rows = [line for line in walk.splitlines() if line.startswith("|")]
        roots = [ROOT / root for root in re.findall(r"`([^`]+)`", header)]
        entries = []
        for row in rows:
            for root, cell in zip(roots, row.strip("|").split("|"), strict=True):
                if found := re.match(r" (\d+) `([^`]+)`( \*)?", cell):
                    number, name, again = found.groups()
                    path = ROOT / name.replace("crds/…", "crds/onair_crds") if "…" in name else root / name
                    assert path.is_file(), f"{name} is no file"
                    entries.append((int(number), name, bool(again)))
        entries.sort()
        assert [number for number, _, _ in entries] == list(range(1, len(entries) + 1))
        assert len(entries) <= 20
        assert sum(again for _, _, again in entries) <= 3
        left: set[str] = set()
        for _, name, again in entries:
            assert again == (name in left), f"{name} is marked wrongly"
            left.add(name)


def test_every_metric_of_operator_and_facade_is_documented() -> None:
    assert onair_api.metrics
    assert onair_operator.runtime
    documented = (ROOT / "docs/reference/metrics.md").read_text()
    ours = [
        metric for metric in REGISTRY.collect() if metric.name.startswith(("onair_operator", "onair_api"))
    ]
    names = {f"{each.name}_total" if each.type == "counter" else each.name for each in ours}
    assert {"onair_operator_reconciles_total", "onair_api_requests_total"} <= names
    assert {name for name in names if f"`{name}`" not in documented} == set()


def _folder(path: Path) -> str:
    return path.parent.name


@pytest.mark.parametrize("dockerfile", sorted((ROOT / "images").glob("*/Dockerfile")), ids=_folder)
def test_images_spare_the_libraries_within_wheels_which_stripping_damages(dockerfile: Path) -> None:
    stripped = [line for line in dockerfile.read_text().splitlines() if "-exec strip" in line]
    assert all("-not -path '*.libs/*'" in line for line in stripped)
