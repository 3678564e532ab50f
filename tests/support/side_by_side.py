"""Runs files of tests side by side in pytest-xdist's workers, and some with the machine to themselves."""

from __future__ import annotations

import fcntl
import functools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController

ROOT = Path(__file__).parents[2]
ALONE = ("tests/soak/", "tests/e2e/alone/", "tests/bench/")
"""These have the machine and the cluster to themselves."""
ENCODERS = "tests/integration/encoder/pod/"
"""Whole encoders in real time: two of them side by side leave cores idle, and nothing else runs then."""
WITH_MEDIA = "integration with media"
LIGHT = ("unit", "integration")
MEDIA_WORKERS = 2
"""The most that run browsers or encode pictures at a time: a core has enough to do with one. On a slow
machine one of them has small pictures alone."""
SMALL_MEDIA = tuple(
    f"tests/integration/{each}"
    for each in (
        *("chart/", "encoder/publish/", "ingest/readers/", "ingest/test_", "operator/source/"),
        "test_interleavings.py",
    )
)
"""These wait for small pictures in real time: beside two others there is a core left for one of them."""


@functools.cache
def part_of(file: str) -> str:
    """The part that a file of tests belongs to: its top folder, and whether it handles media."""
    top = file.removeprefix("tests/").split("/", 1)[0]
    media = top == "integration" and "pytest.mark.media" in (ROOT / file).read_text()
    return WITH_MEDIA if media else top


def runs_alone(file: str) -> bool:
    return file.startswith(ALONE)


def place_of(file: str) -> tuple[bool, bool]:
    """Where a file comes within its part: whole encoders after the rest, what runs alone last."""
    return runs_alone(file), file.startswith(ENCODERS)


def file_of(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]


def is_small(file: str) -> bool:
    return part_of(file) == WITH_MEDIA and file.startswith(SMALL_MEDIA)


def is_large(file: str) -> bool:
    """Whether it takes a core: what a third worker's small media is run beside."""
    return part_of(file) == WITH_MEDIA and not is_small(file) and not file.startswith(ENCODERS)


def fits_beside_large(file: str, small_media: bool) -> bool:
    """Whether it takes little of the machine, and need not be alone."""
    return part_of(file) in LIGHT or (small_media and is_small(file))


class FilesSideBySide(LoadScopeScheduling):
    """Gives a worker one file at a time, and to one worker, in order, all that runs alone.

    Workers beyond `MEDIA_WORKERS` get what takes little, and end once there is no more of it. They take a
    part from its end: files of one folder want the same of the machine, those of another wait meanwhile. The
    first workers leave them small media while there is large.

    Once the machine is found to be slow, one worker alone has large media, and one beside it small.

    Args:
        is_slow: whether the machine is at the moment.
    """

    def __init__(
        self, config: pytest.Config, log: Any = None, *, is_slow: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__(config, log)
        self._is_slow = is_slow
        self.slow = False

    def _split_scope(self, nodeid: str) -> str:
        file = file_of(nodeid)
        return "alone" if runs_alone(file) else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        place = self.nodes.index(node)
        if place > 0 and part_of(next(iter(self.workqueue))) not in LIGHT:
            self.slow = self.slow or self._is_slow()
        large_workers, small_workers = (1, MEDIA_WORKERS) if self.slow else (MEDIA_WORKERS, len(self.nodes))
        if place >= large_workers:
            small = place < small_workers
            fits = {each: part_of(each) for each in self.workqueue if fits_beside_large(each, small)}
            if not fits:
                node.shutdown()
                return
            part = next(iter(fits.values()))
            self.workqueue.move_to_end([scope for scope in fits if fits[scope] == part][-1], last=False)
        elif len(self.nodes) > large_workers and is_small(next(iter(self.workqueue))):
            large = next(filter(is_large, self.workqueue), None)
            if large:
                self.workqueue.move_to_end(large, last=False)
        super()._assign_work_unit(node)


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


@contextmanager
def once_in_a_run(config: pytest.Config, what: str) -> Iterator[bool]:
    """Whether this worker is the first of the run to do it; others wait until it is done."""
    if not is_worker(config):
        yield True
        return
    run: str = config.workerinput["testrunuid"]  # type: ignore[attr-defined]
    path = Path(tempfile.gettempdir(), f"onair-tests-{run}.{what}")
    with path.open("a") as done:
        fcntl.flock(done, fcntl.LOCK_EX)
        yield path.stat().st_size == 0
        done.write("done")
        done.flush()


class ShareOfTheMachine:
    """Of a worker: beside others, or alone. It is kept until the worker needs the other, or gives it back.

    So nothing that takes from the others runs between two tests of a file, which have fixtures in common.
    """

    def __init__(self) -> None:
        self._lock: int | None = None
        self._mode = fcntl.LOCK_UN

    def take(self, item: pytest.Item) -> None:
        """Waits until a test may run."""
        if not is_worker(item.config):
            return
        if self._lock is None:
            run: str = item.config.workerinput["testrunuid"]  # type: ignore[attr-defined]
            path = Path(tempfile.gettempdir(), f"onair-tests-{run}.lock")
            self._lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        mode = fcntl.LOCK_EX if runs_alone(file_of(item.nodeid)) else fcntl.LOCK_SH
        if mode != self._mode:
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            fcntl.flock(self._lock, mode)
            self._mode = mode

    def give_back(self) -> None:
        """The worker has run its tests; its process goes on until all have."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
