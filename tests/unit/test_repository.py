"""Rules of the repository that a wrong file name would break."""

from __future__ import annotations

import operator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_folder_operator_never_shadows_the_standard_library() -> None:
    assert operator.add(1, 2) == 3
    for folder in ("operator", "api", "crds", "images", "images/encoder"):
        assert not (ROOT / folder / "__init__.py").exists()
