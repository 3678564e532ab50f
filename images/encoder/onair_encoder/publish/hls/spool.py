"""Segments that wait for their upload: a few in memory, more on disk, within a limit."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
import time
from collections import deque
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from onair_crds.media.segmenter import Cut
from onair_crds.runtime.stderr_log import log
from onair_encoder.paths import SPOOL
from onair_encoder.publish.hls.kept_segments import Leftovers, forget, keep, keep_name, kept

MEMORY_BYTES = 8 * 2**20
"""Of one destination. While uploads keep up, nothing is written to disk."""
DISK_BYTES = 512 * 2**20
"""Of all destinations of a pod together: half of the volume that they are on."""


@dataclass
class Budget:
    """The disk space that spools share."""

    most_bytes: int = DISK_BYTES
    used_bytes: int = 0


BUDGET = Budget()
_numbers = itertools.count()
_leftovers: dict[Path, Leftovers] = {}
"""Of this process' predecessor, by the folder of all spools."""


def left(spool: Spool) -> None:
    """Another destination of this process may go on with what a spool has left."""
    for folder in spool.folders:
        if leftovers := _leftovers.get(folder.parent):
            leftovers.add(folder)


def spool_of(key: str, most_s: float | None, *, keeps: bool = False) -> Spool:
    """A spool in a folder of its own: a successor in the same place may begin while this one ends.

    Args:
        key: of destination and place.
        keeps: what waits is kept for an agent that was restarted, but for the segment under way.
    """
    if SPOOL not in _leftovers:
        _leftovers[SPOOL] = Leftovers(SPOOL)
        _leftovers[SPOOL].purge_soon()
    folder = SPOOL / f"{key}.{os.getpid()}-{time.monotonic_ns()}-{next(_numbers)}"
    spool = Spool(folder, BUDGET, 0 if keeps else None, most_s, keeps=keeps)
    for each in _leftovers[SPOOL].take(key):
        spool.adopt(each)
    return spool


@dataclass
class Waiting:
    cut: Cut
    """Without its data where that is on disk."""
    size: int
    number: int
    """Of its folder, whether it is on disk or not."""
    path: Path | None = None
    name: str = ""
    """Under which it is stored; empty until then."""


class Spool:
    def __init__(
        self,
        folder: Path,
        budget: Budget,
        memory_bytes: int | None = None,
        most_s: float | None = None,
        *,
        keeps: bool = False,
    ) -> None:
        """
        Args:
            most_s: how much time may wait; None for a limit of bytes alone.
            keeps: what is stored is noted on disk until it is listed.
        """
        self.most_s = most_s
        self.bytes = 0
        self.dropped_packets = 0
        self._folder = folder
        self._budget = budget
        self._memory_bytes = MEMORY_BYTES if memory_bytes is None else memory_bytes
        self._in_memory = 0
        self._waiting: deque[Waiting] = deque()
        self._putting: Waiting | None = None
        """Which is being written to disk."""
        self._number = 0
        self._broken = False
        """The next segment does not continue the one before."""
        self._disk_failed = False
        """The disk took nothing the last time: what waits is in memory, as far as there is room."""
        self._keeps = keeps
        self._unlisted: list[Path] = []
        """Notes of what is stored and not yet listed."""
        self._adopted: list[Path] = []
        shutil.rmtree(folder, ignore_errors=True)

    @property
    def folders(self) -> list[Path]:
        """Where its segments are, the oldest first."""
        return [*self._adopted, self._folder]

    def adopt(self, folder: Path) -> None:
        """Takes what a spool of a process that died has kept; what comes next does not continue it."""
        self._adopted.append(folder)
        for each in kept(folder):
            self._waiting.append(Waiting(each.cut, each.size, 0, each.path, each.name))
            self.bytes += each.size
            self._budget.used_bytes += each.size
            self._broken = True

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> Waiting | None:
        """The oldest, which is to be stored next."""
        return self._waiting[0] if self._waiting else None

    async def put(self, cut: Cut) -> None:
        """Takes a segment; where there is no room the oldest are dropped, and what follows them says so."""
        size = len(cut.data)
        self._number += 1
        waiting = self._putting = Waiting(cut, size, self._number)
        if self._in_memory + size > self._memory_bytes and self._waiting:
            try:
                await self._write(waiting)
            except OSError as error:
                if not self._disk_failed:
                    log("hls.not-kept", error=error.strerror or str(error))
                self._disk_failed = True
                if self._in_memory + size > MEMORY_BYTES:
                    self.dropped_packets += cut.packets
                    self._broken, self._putting = True, None
                    return
                self._in_memory += size
            else:
                self._disk_failed = False
        else:
            self._in_memory += size
        if self._broken:
            waiting.cut = replace(waiting.cut, discontinuity=True)
            self._broken = False
        self._waiting.append(waiting)
        self._putting = None
        self.bytes += size
        while self.most_s and len(self._waiting) > 2 and self.waits_s > self.most_s:
            self.drop(self._waiting[1])  # the first may be under way just now

    @property
    def waits_s(self) -> float:
        return sum(waiting.cut.duration_s for waiting in self._waiting)

    async def _write(self, waiting: Waiting) -> None:
        """
        Raises:
            OSError: there is no room, nor any to be made.
        """
        while self._budget.used_bytes + waiting.size > self._budget.most_bytes:
            # Never the first: it may be under way just now
            oldest = next((each for each in list(self._waiting)[1:] if each.path and each.size), None)
            if oldest is None:
                raise OSError("the spool is full")
            self.drop(oldest)
        path = self._path(waiting)
        self._budget.used_bytes += waiting.size
        try:
            await asyncio.to_thread(keep, path, waiting.cut, waiting.cut.data)
        except BaseException:
            self._budget.used_bytes -= waiting.size
            raise
        waiting.cut, waiting.path = replace(waiting.cut, data=b""), path

    def _path(self, waiting: Waiting) -> Path:
        return waiting.path or self._folder / f"{waiting.number:08}.ts"

    def _free(self, waiting: Waiting) -> None:
        self.bytes -= waiting.size
        if waiting.path:
            self._budget.used_bytes -= waiting.size
        else:
            self._in_memory -= waiting.size

    def _forget(self, waiting: Waiting) -> None:
        self._free(waiting)
        if waiting.path:
            _remove(waiting.path)

    async def data(self, waiting: Waiting) -> bytes | bytearray:
        return await asyncio.to_thread(waiting.path.read_bytes) if waiting.path else waiting.cut.data

    def drop(self, waiting: Waiting) -> None:
        """It is not stored, and what follows says so."""
        after = self._waiting.index(waiting) + 1
        if after < len(self._waiting):
            follower = self._waiting[after]
            follower.cut = replace(follower.cut, discontinuity=True)
        else:
            self._broken = True
        self.dropped_packets += waiting.cut.packets
        self.done(waiting)

    async def stored(self, waiting: Waiting, name: str) -> None:
        """It is stored under this name; until `listed` an agent that is restarted would know of it."""
        waiting.name = name
        if self._keeps:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(keep_name, self._path(waiting), waiting.cut, name)

    def done(self, waiting: Waiting) -> None:
        """It is not needed any more, but for the note of what is stored."""
        self._waiting.remove(waiting)
        if waiting.name and self._keeps:
            self._free(waiting)
            self._unlisted.append(self._path(waiting))
        else:
            self._forget(waiting)

    def listed(self) -> None:
        """What is stored is listed in the bucket."""
        while self._unlisted:
            _remove(self._unlisted.pop())

    def skip_listed(self, names: Container[str]) -> None:
        """Forgets what is listed, of what a process that died had stored."""
        for waiting in [each for each in self._waiting if each.name in names]:
            self.done(waiting)
        self.listed()

    def clear(self) -> None:
        """Nothing of what waits is needed any more."""
        while self._waiting:
            self.done(self._waiting[0])

    def close(self) -> None:
        """Frees memory and disk."""
        self.clear()
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)

    def leave(self, rest: Iterable[Cut]) -> None:
        """Leaves on disk what waits, for the agent that follows.

        Args:
            rest: what was cut and not put.
        """
        if self._putting:
            self._waiting.append(self._putting)
        for cut in rest:
            self._number += 1
            self._waiting.append(Waiting(cut, 0, self._number))
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.path and not waiting.name:
                with contextlib.suppress(OSError):
                    keep(self._path(waiting), waiting.cut, waiting.cut.data)
            self._free(waiting)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        forget(path)
