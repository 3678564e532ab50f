"""The spools of a pod: where they are, and what was left in them for whoever continues."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from pathlib import Path

from onair_encoder.paths import SPOOL
from onair_encoder.publish.hls.kept_segments import Budget, remove
from onair_encoder.publish.hls.spool import Spool

PURGE_AFTER_S = 60.0
"""By then every destination of a stored programme has been taken up again, and so has a replaced one."""
BUDGET = Budget()
_numbers = itertools.count()
_leftovers: dict[Path, Leftovers] = {}
"""Of this process' predecessor, by the folder of all spools."""


class Leftovers:
    """Folders of a process that died, or a destination that was replaced, each under its place's key."""

    def __init__(self, root: Path, budget: Budget) -> None:
        self._budget = budget
        self._folders: dict[Path, int] = {}
        """In order, with their bytes, which count as used."""
        for folder in sorted(root.iterdir(), key=_age) if root.is_dir() else []:
            self._hold(folder)

    def _hold(self, folder: Path) -> None:
        self._folders[folder] = size = _bytes_in(folder)
        self._budget.used_bytes += size

    def _release(self, folder: Path) -> None:
        self._budget.used_bytes -= self._folders.pop(folder)

    @property
    def folders(self) -> list[Path]:
        return [*self._folders]

    def take(self, key: str) -> list[Path]:
        """The folders of a place, which belong to the caller from now on."""
        taken = [each for each in self._folders if each.name.partition(".")[0] == key]
        for folder in taken:
            self._release(folder)
        return taken

    def add(self, folder: Path) -> None:
        """Keeps what a destination has left to the one that replaces it."""
        self._hold(folder)
        self.purge_soon([folder])

    def purge(self, folders: list[Path]) -> asyncio.Future[None]:
        """Removes those that nobody has taken; done when they are gone."""
        nobodys = [each for each in folders if each in self._folders]
        for folder in nobodys:
            self._release(folder)
        return asyncio.get_running_loop().run_in_executor(None, remove, nobodys)

    def purge_soon(self, folders: list[Path]) -> None:
        """Removes folders later, unless somebody takes them: each has a time of its own."""
        if folders:
            asyncio.get_running_loop().call_later(PURGE_AFTER_S, self.purge, folders)


def spool_of(key: str, most_s: float | None, *, keeps: bool = False) -> Spool:
    """A spool in a folder of its own: a successor in the same place may begin while this one ends.

    Args:
        key: of destination and place.
        keeps: what waits is kept for an agent that was restarted, but for the segment under way.
    """
    if SPOOL not in _leftovers:
        _leftovers[SPOOL] = leftovers = Leftovers(SPOOL, BUDGET)
        leftovers.purge_soon(leftovers.folders)
    folder = SPOOL / f"{key}.{os.getpid()}-{time.monotonic_ns()}-{next(_numbers)}"
    spool = Spool(folder, BUDGET, 0 if keeps else None, most_s, keeps=keeps)
    for each in _leftovers[SPOOL].take(key):
        spool.adopt(each)
    return spool


def left(spool: Spool) -> None:
    """Another destination of this process may go on with what a spool has left."""
    for folder in spool.folders:
        if leftovers := _leftovers.get(folder.parent):
            leftovers.add(folder)


def _bytes_in(folder: Path) -> int:
    try:
        return sum(each.stat().st_size for each in folder.iterdir())
    except OSError:
        return 0


def _age(folder: Path) -> tuple[int, ...]:
    """Sorts folders of spools by when they were begun: their names end with `.<pid>-<nanoseconds>-<n>`."""
    _, _, begun = folder.name.rpartition(".")[2].partition("-")
    return tuple(int(each) for each in begun.split("-") if each.isdecimal())
