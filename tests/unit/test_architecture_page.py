"""The walks of docs/architecture.md go through files that call one another, with none left out between."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text()
WALKS = PAGE.partition("## Two walks")[2].partition("## A reconcile")[0].split("**A layer's update")
API, OPERATOR, ENCODER = (
    ROOT / root for root in ("api/onair_api", "operator/onair_operator", "images/encoder/onair_encoder")
)
WIRED_BY = {
    API / "live/destination/service.py": API / "live/destination/operations.py",
    API / "layout/layer/service.py": API / "layout/layer/operations.py",
    ROOT / "crds/onair_crds/kube/client.py": API / "cache/cluster.py",
    API / "event/changes/announcer.py": API / "event/service.py",
    API / "event/stream/event_delivery.py": API / "event/service.py",
    API / "event/stream/websocket_connection.py": API / "event/stream/websocket.py",
    OPERATOR / "reconcile.py": OPERATOR / "runtime.py",
    OPERATOR / "project/observe.py": OPERATOR / "reconcilers.py",
    OPERATOR / "project/plan.py": OPERATOR / "reconcilers.py",
    OPERATOR / "encoder/connection.py": OPERATOR / "encoder/client.py",
    ENCODER / "publish/rtmp/output.py": ENCODER / "publish/destination_kinds.py",
}
"""Files that are called through an object which another file has made or registered."""
Column = list[tuple[int, Path]]


def columns_of(walk: str) -> list[Column]:
    """The numbered files of each column of the walk's table."""
    header, _, *rows = [line for line in walk.splitlines() if line.startswith("|")]
    roots = [ROOT / root for root in re.findall(r"`([^`]+)`", header)]
    columns: list[Column] = [[] for _ in roots]
    for row in rows:
        for root, column, cell in zip(roots, columns, row.strip("|").split("|"), strict=True):
            if found := re.match(r" (\d+) `([^`]+)`", cell):
                name = found[2].replace("crds/…", "crds/onair_crds")
                column.append((int(found[1]), ROOT / name if "…" in found[2] else root / name))
    return columns


def module_of(path: Path) -> str:
    """Its dotted name; folders of programs are no packages."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[next(i for i, part in enumerate(parts) if part.startswith("onair_")) :])


def calls(path: Path, module: str) -> bool:
    """Whether the file calls what it imports from the module, or a method of a parameter of such a type."""
    tree = ast.parse(path.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = [alias for node in imports if node.module == module for alias in node.names]
    imported = {alias.asname or alias.name for alias in names}
    return not imported.isdisjoint(_called(tree))


def _called(tree: ast.AST) -> Iterator[str]:
    """Names of functions and classes that are called, handed over to be called, or extended."""
    types = {
        each.arg: ast.unparse(each.annotation)
        for each in ast.walk(tree)
        if isinstance(each, ast.arg) and each.annotation
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (ast.unparse(base) for base in node.bases)
        elif isinstance(node, ast.Call):
            called, _, method = ast.unparse(node.func).rpartition(".")
            yield called or method
            yield from (each.id for each in node.args if isinstance(each, ast.Name) and each.id.islower())
            yield types.get(called.removeprefix("self.").removeprefix("_"), "")


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_leaves_no_file_out_and_stays_short(walk: str) -> None:
    columns = columns_of(walk)
    entries = [entry for column in columns for entry in column]
    assert [number for number, _ in entries] == list(range(1, len(entries) + 1))
    assert len(entries) <= 20
    assert len({path for _, path in entries}) == len(entries), "a file is entered again"
    for column in columns:
        under_way: list[Path] = []
        for _, path in column:
            assert path.is_file(), path
            if path in WIRED_BY:
                wired_by, module = WIRED_BY[path].read_text(), module_of(path)
                assert f"from {module} import" in wired_by, f"{WIRED_BY[path]} does not name {module}"
            else:
                before = list(under_way)
                while under_way and not calls(under_way[-1], module_of(path)):
                    under_way.pop()
                assert under_way or not before, f"none of {[str(each) for each in before]} calls {path}"
            under_way.append(path)
