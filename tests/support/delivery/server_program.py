"""Programs of the servers that tests deliver to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def server_program(name: str) -> Path:
    """A server that `make tools` or `make up` has built; the test fails where there is none."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onair"
    folder = cache / ("mediamtx" if name == "mediamtx" else "servers")
    found = sorted(folder.glob(f"*/{name}"))
    if not found:
        pytest.fail(f"{name} was not found: run `make tools`", pytrace=False)
    return found[-1]
