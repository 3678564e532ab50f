"""Rules of the repository that a wrong file name would break."""

from __future__ import annotations

import ast
import operator
from pathlib import Path

import pytest

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
