"""Programs of the servers that tests deliver to."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from onair_dev.cluster.images import image
from onair_dev.tools import delivery_servers, mediamtx


@functools.cache
def server_program(name: str) -> Path:
    """A server as this checkout wants it, built before; the test fails where there is none."""
    program = mediamtx.path_of(image(name).tag) if name == "mediamtx" else delivery_servers.path_of(name)
    if not program.exists():
        pytest.fail(f"{name} was not found as it is wanted here: run `make tools`", pytrace=False)
    return program
