"""Runs files of tests side by side in pytest-xdist's workers, and some with the machine to themselves."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

ALONE = "alone"
SUFFIX = f"@{ALONE}"
"""What xdist adds to the ids of the tests of that group."""


class FilesSideBySide(LoadScopeScheduling):
    """Gives a worker one file at a time, and the tests of the group ALONE to one worker, in order."""

    def _split_scope(self, nodeid: str) -> str:
        return ALONE if nodeid.endswith(SUFFIX) else nodeid.split("::", 1)[0]


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


@contextmanager
def its_share_of_the_machine(item: pytest.Item) -> Iterator[None]:
    """Waits until a test may run: side by side with others, or alone."""
    if not is_worker(item.config):
        yield
        return
    run: str = item.config.workerinput["testrunuid"]  # type: ignore[attr-defined]
    with Path(tempfile.gettempdir(), f"onair-tests-{run}.lock").open("w") as lock:
        alone = item.get_closest_marker("xdist_group") is not None
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
