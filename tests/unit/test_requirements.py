"""Each program's image has the packages that its modules import."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

from onair_dev.lock import FOLDER

DISTRIBUTIONS = packages_distributions()


def imports_of(file: Path) -> Iterator[str]:
    """Names of modules, or of what is in them."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def file_of(module: str) -> Path | None:
    """The source of a module of ours; None if it is none."""
    top, *below = module.split(".")
    found = find_spec(top) if top.startswith("onair_") else None
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent.joinpath(*below)
    return next((each for each in (path / "__init__.py", path.with_suffix(".py")) if each.is_file()), None)


def imported_packages(program: str) -> set[str]:
    """Top-level packages of others that a program imports, directly or by modules of ours."""
    start = file_of(program)
    assert start
    waiting, seen = list(start.parent.rglob("*.py")), set[Path]()
    packages = set[str]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for name in imports_of(file):
            if own := file_of(name):
                waiting.append(own)
            elif not name.startswith("onair_"):
                packages.add(name.split(".")[0])
    return packages - sys.stdlib_module_names


@pytest.mark.parametrize("name", ["api", "encoder", "ingest", "operator"])
def test_what_a_program_imports_is_installed_with_it(name: str) -> None:
    locked = re.findall(r"^([a-z0-9-]+)==", (FOLDER / f"{name}.txt").read_text(), re.MULTILINE)
    assert len(locked) > 10
    imported = imported_packages(f"onair_{name}")
    assert "pydantic" in imported
    missing = {
        package
        for package in imported
        if not {re.sub(r"[-_.]+", "-", each.lower()) for each in DISTRIBUTIONS[package]} & {*locked}
    }
    assert missing == set()
