"""Modules that tests import are there: benches are not even collected by the tests of a change."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
IMPORT = re.compile(r"^\s*(?:from|import) (tests(?:\.\w+)*)(?: import \(?([\w, ]*))?", re.MULTILINE)


def missing(file: Path) -> list[str]:
    """Modules of tests that a file imports from, and that do not exist."""
    found = []
    for module, names in IMPORT.findall(file.read_text()):
        path = ROOT.joinpath(*module.split("."))
        if path.with_suffix(".py").is_file():
            continue
        parts = [path / f"{name.split()[0]}.py" for name in names.split(",") if name.strip()]
        if not path.is_dir() or not all(each.is_file() or each.with_suffix("").is_dir() for each in parts):
            found.append(module)
    return found


def test_whatever_a_test_or_a_bench_imports_of_other_tests_exists() -> None:
    lost = {
        str(file.relative_to(ROOT)): modules
        for file in (ROOT / "tests").rglob("*.py")
        if (modules := missing(file))
    }
    assert lost == {}
