"""Segments that wait for their upload: a few in memory, more on disk, within a limit."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from onair_crds.media.segmenter import Cut
from onair_crds.runtime.stderr_log import log
from onair_encoder.publish.hls.kept_segments import (
    Budget,
    forget,
    forget_others,
    keep,
    keep_name,
    kept,
    remove,
)

MEMORY_BYTES = 8 * 2**20
"""Of one destination. While uploads keep up, nothing is written to disk."""


@dataclass
class WaitingSegment:
    """A segment that waits for its upload."""

    cut: Cut
    """Without its data where that is on disk."""
    size: int
    number: int
    """Of its folder, whether it is on disk or not."""
    path: Path | None = None
    name: str = ""
    """Under which it is stored; empty until then."""


class Spool:
    """A queue of segments, in memory and on disk."""

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
            most_s: how much time may wait; None for a limit of only bytes.
            keeps: what is stored is noted on disk until it is listed.
        """
        self.most_s = most_s
        self.bytes = 0
        self.dropped_packets = 0
        self._folder = folder
        self._budget = budget
        self._memory_bytes = MEMORY_BYTES if memory_bytes is None else memory_bytes
        self._in_memory = 0
        self._waiting: deque[WaitingSegment] = deque()
        self._under_way: WaitingSegment | None = None
        """Which is being stored, and is not dropped meanwhile."""
        self._putting: WaitingSegment | None = None
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
        self._threads: set[asyncio.Task[None]] = set()
        """That write to the folder, also after nobody waits for them any more."""

    @property
    def folders(self) -> list[Path]:
        """Where its segments are, the oldest first."""
        return [*self._adopted, self._folder]

    def adopt(self, folder: Path) -> None:
        """Takes what a spool of a process that died has kept; what comes next does not continue it.

        Where there is no room for all the oldest are dropped.
        """
        found = kept(folder)
        forget_others(folder, found)
        if found:
            self._adopted.append(folder)
        for each in found:
            self._waiting.append(WaitingSegment(each.cut, each.size, 0, each.path, each.name))
            self.bytes += each.size
            self._budget.used_bytes += each.size
            self._broken = True
        while self._budget.is_exceeded and (oldest := self._oldest_on_disk):
            self.drop(oldest)

    def _droppable(self) -> Iterator[WaitingSegment]:
        return (each for each in self._waiting if each is not self._under_way and not each.name)

    @property
    def _oldest_on_disk(self) -> WaitingSegment | None:
        return next((each for each in self._droppable() if each.path and each.size), None)

    @contextmanager
    def storing(self, waiting: WaitingSegment) -> Iterator[None]:
        """Marks, in a context, a segment that is being stored."""
        self._under_way = waiting
        try:
            yield
        finally:
            self._under_way = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> WaitingSegment | None:
        """The oldest, which is to be stored next."""
        return self._waiting[0] if self._waiting else None

    async def put(self, cut: Cut) -> None:
        """Takes a segment; where there is no room the oldest are dropped, and what follows them says so."""
        size = len(cut.data)
        self._number += 1
        waiting = self._putting = WaitingSegment(cut, size, self._number)
        if self._in_memory + size > self._memory_bytes and self._waiting:
            try:
                await self._write(waiting)
            except (OSError, RuntimeError) as error:  # such as no thread to write with
                if not self._disk_failed:
                    log("hls.not-kept", error=getattr(error, "strerror", None) or str(error))
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
            self.drop(next(self._droppable()))

    @property
    def waits_s(self) -> float:
        return sum(waiting.cut.duration_s for waiting in self._waiting)

    async def _write(self, waiting: WaitingSegment) -> None:
        """
        Raises:
            OSError: there is no room, nor any to be made.
        """
        while self._budget.used_bytes + waiting.size > self._budget.most_bytes:
            if (oldest := self._oldest_on_disk) is None:
                raise OSError("the spool is full")
            self.drop(oldest)
        path = self._path(waiting)
        self._budget.used_bytes += waiting.size
        try:
            await self._in_thread(lambda: keep(path, waiting.cut, waiting.cut.data))
        except BaseException:
            self._budget.used_bytes -= waiting.size
            raise
        waiting.cut, waiting.path = replace(waiting.cut, data=b""), path

    async def _in_thread(self, work: Callable[[], None]) -> None:
        """Waits for it; if that is cancelled it continues nevertheless, and `settled` waits for it."""
        is_refused = False

        def unless_refused() -> None:
            # Where no thread could be started it stays queued, for one that is free later
            if not is_refused:
                work()

        async def run() -> None:
            nonlocal is_refused
            try:
                await asyncio.to_thread(unless_refused)
            except RuntimeError:
                is_refused = True
                raise

        task = asyncio.ensure_future(run())
        self._threads.add(task)
        task.add_done_callback(self._threads.discard)
        await asyncio.shield(task)

    async def settled(self) -> None:
        """Waits until nothing is being written any more."""
        await asyncio.gather(*self._threads, return_exceptions=True)

    def _path(self, waiting: WaitingSegment) -> Path:
        return waiting.path or self._folder / f"{waiting.number:08}.ts"

    def _free(self, waiting: WaitingSegment) -> None:
        self.bytes -= waiting.size
        if waiting.path:
            self._budget.used_bytes -= waiting.size
        else:
            self._in_memory -= waiting.size

    def _forget(self, waiting: WaitingSegment) -> None:
        self._free(waiting)
        if waiting.path:
            _remove(waiting.path)

    async def data(self, waiting: WaitingSegment) -> bytes | bytearray:
        return await asyncio.to_thread(waiting.path.read_bytes) if waiting.path else waiting.cut.data

    def drop(self, waiting: WaitingSegment) -> None:
        """Drops a segment that is not stored; what follows it says so."""
        after = self._waiting.index(waiting) + 1
        if after < len(self._waiting):
            follower = self._waiting[after]
            follower.cut = replace(follower.cut, discontinuity=True)
        else:
            self._broken = True
        self.dropped_packets += waiting.cut.packets
        self.done(waiting)

    async def stored(self, waiting: WaitingSegment, name: str) -> None:
        """Notes the name that a segment is stored under, for an agent that is restarted before `listed`."""
        waiting.name = name
        if self._keeps:
            with contextlib.suppress(OSError, RuntimeError):
                await self._in_thread(lambda: keep_name(self._path(waiting), waiting.cut, name))

    def done(self, waiting: WaitingSegment) -> None:
        """Forgets a segment, but for the note of what is stored."""
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

    async def close(self) -> None:
        """Frees memory and disk, once nothing is being written any more."""
        while self._waiting:
            self._free(self._waiting.popleft())
        try:
            await self.settled()
        finally:
            await asyncio.to_thread(remove, self.folders)

    def leave(self, rest: Iterable[Cut]) -> None:
        """Leaves on disk what waits, for the agent that follows.

        Args:
            rest: what was cut and not put.
        """
        if self._putting:
            self._waiting.append(self._putting)
        for cut in rest:
            self._number += 1
            self._waiting.append(WaitingSegment(cut, 0, self._number))
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.path and not waiting.name:
                with contextlib.suppress(OSError):
                    keep(self._path(waiting), waiting.cut, waiting.cut.data)
            self._free(waiting)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        forget(path)
