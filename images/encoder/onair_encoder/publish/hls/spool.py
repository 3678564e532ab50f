"""Segments that wait for their upload: a few in memory, more on disk, within a limit."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import shutil
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path

from onair_encoder.paths import SPOOL
from onair_encoder.publish.hls.segmenter import Cut

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


def spool_of(destination: str, most_s: float | None) -> Spool:
    """A spool in a folder of its own: a successor of the same id may begin while this one ends."""
    number = next(_numbers)
    if number == 0:
        shutil.rmtree(SPOOL, ignore_errors=True)  # of a process that died
    return Spool(SPOOL / f"{destination}.{number}", BUDGET, most_s=most_s)


@dataclass
class Waiting:
    cut: Cut
    """Without its data where that is on disk."""
    size: int
    path: Path | None = None


class Spool:
    def __init__(
        self, folder: Path, budget: Budget, memory_bytes: int | None = None, most_s: float | None = None
    ) -> None:
        """
        Args:
            most_s: how much time may wait; None for a limit of bytes alone.
        """
        self.most_s = most_s
        self.bytes = 0
        self.dropped_packets = 0
        self._folder = folder
        self._budget = budget
        self._memory_bytes = MEMORY_BYTES if memory_bytes is None else memory_bytes
        self._in_memory = 0
        self._waiting: deque[Waiting] = deque()
        self._number = 0
        self._broken = False
        """The next segment does not continue the one before."""
        shutil.rmtree(folder, ignore_errors=True)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> Waiting | None:
        """The oldest, which is to be stored next."""
        return self._waiting[0] if self._waiting else None

    async def put(self, cut: Cut) -> None:
        """Takes a segment; where there is no room the oldest are dropped, and what follows them says so."""
        size = len(cut.data)
        waiting = Waiting(cut, size)
        if self._in_memory + size > self._memory_bytes and self._waiting:
            try:
                await self._write(waiting)
            except OSError:
                self.dropped_packets += cut.packets
                self._broken = True
                return
        else:
            self._in_memory += size
        if self._broken:
            waiting.cut = replace(waiting.cut, discontinuity=True)
            self._broken = False
        self._waiting.append(waiting)
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
            oldest = next((each for each in list(self._waiting)[1:] if each.path), None)
            if oldest is None:
                raise OSError("the spool is full")
            self.drop(oldest)
        self._number += 1
        path = self._folder / f"{self._number:08}.ts"
        self._budget.used_bytes += waiting.size
        data, waiting.cut, waiting.path = waiting.cut.data, replace(waiting.cut, data=b""), path
        try:
            await asyncio.to_thread(self._store, path, data)
        except BaseException:
            self._budget.used_bytes -= waiting.size
            waiting.path = None
            raise

    def _store(self, path: Path, data: bytes | bytearray) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def _forget(self, waiting: Waiting) -> None:
        self.bytes -= waiting.size
        if waiting.path:
            self._budget.used_bytes -= waiting.size
            with contextlib.suppress(OSError):
                waiting.path.unlink()
        else:
            self._in_memory -= waiting.size

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

    def done(self, waiting: Waiting) -> None:
        """It is stored."""
        self._waiting.remove(waiting)
        self._forget(waiting)

    def close(self) -> None:
        """Frees memory and disk."""
        while self._waiting:
            self.done(self._waiting[0])
        shutil.rmtree(self._folder, ignore_errors=True)
