"""Programs that tests start, as `onair_dev.required_programs` finds them."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from onair_dev import required_programs as programs


@functools.cache
def program(name: str) -> Path:
    """The path of a program, which is asked for its version once; the test fails where it was not found."""
    found = programs.find(name)
    if found is None:
        pytest.fail(f"{name} was not found: run `make tools`", pytrace=False)
    return found
