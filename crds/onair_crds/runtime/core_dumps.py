"""Keeps the memory of a program that dies, which holds secrets, out of files."""

from __future__ import annotations

import resource

TOO_SMALL = 1
"""Bytes. Below any core dump, so that none is written, nor piped to a handler, which 0 would not prevent."""


def prevent_core_dumps() -> None:
    """Forbids core dumps of this process, and of those that it starts from now on."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    limit = TOO_SMALL if hard == resource.RLIM_INFINITY else min(hard, TOO_SMALL)
    resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))
