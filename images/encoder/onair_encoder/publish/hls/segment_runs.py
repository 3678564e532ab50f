"""Segments in the order of their age, in runs of consecutive numbers, so that thousands take a line. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Self

from onair_crds.media.playlist import lines_of
from onair_encoder.publish.hls.segment_name import SegmentName

_KEPT = "#ONAIR-KEPT:"
_MOST_KEPT = 100_000
MOST_RUNS = 500
"""Each encoder and each failed deletion may begin another; the oldest of more are forgotten."""
REMOVED_OF = 16
"""Segments are removed from among so many of the oldest."""


class SegmentRuns:
    def __init__(self) -> None:
        self._runs: deque[tuple[SegmentName, int]] = deque()
        self._count = 0
        self.forgotten = 0
        """Segments that nobody will delete any more, as there were too many runs."""

    @classmethod
    def kept(cls, text: str) -> Self:
        """Those that comments in a playlist name."""
        runs = cls()
        for line in lines_of(text):
            if line.startswith(_KEPT):
                first, _, count = line.removeprefix(_KEPT).partition(",")
                name = SegmentName.of(first)
                if name and count.isascii() and count.isdigit() and len(count) < 19:
                    runs.append(name, min(int(count), _MOST_KEPT))
        return runs

    def __len__(self) -> int:
        return self._count

    def __contains__(self, name: SegmentName) -> bool:
        return any(
            0 <= name.number - first.number < count and first.later(name.number - first.number) == name
            for first, count in self._runs
        )

    def append(self, name: SegmentName, count: int = 1) -> None:
        """Adds so many, from this one on, as the youngest."""
        if not count:
            return
        first, before = self._runs[-1] if self._runs else (name, 0)
        if before and name == first.later(before):
            self._runs[-1] = first, before + count
        else:
            self._runs.append((name, count))
        self._count += count
        if len(self._runs) > MOST_RUNS:
            gone = self._runs.popleft()[1]
            self._count -= gone
            self.forgotten += gone

    def extend(self, runs: Iterable[tuple[SegmentName, int]]) -> None:
        for name, count in runs:
            self.append(name, count)

    def of(self, prefix: str, *, other: bool = False) -> list[tuple[SegmentName, int]]:
        """The runs with this prefix, or all others."""
        return [run for run in self._runs if (run[0].prefix != prefix) is other]

    def oldest(self, count: int) -> list[str]:
        names = (first.later(by) for first, length in self._runs for by in range(length))
        return [str(name) for name in islice(names, max(0, count))]

    def remove(self, name: str) -> bool:
        """Whether it was among the oldest, and is removed."""
        looked_at = 0
        for at, (first, count) in enumerate(self._runs):
            by = next((by for by in range(min(count, REMOVED_OF)) if str(first.later(by)) == name), None)
            if by is not None:
                left = [(first, by), (first.later(by + 1), count - by - 1)]
                del self._runs[at]
                for run in reversed([run for run in left if run[1]]):
                    self._runs.insert(at, run)
                self._count -= 1
                return True
            looked_at += count
            if looked_at >= REMOVED_OF:
                return False
        return False

    def drop_youngest(self, count: int) -> None:
        count = min(count, self._count)
        self._count -= count
        while count:
            first, length = self._runs.pop()
            if length > count:
                self._runs.append((first, length - count))
            count -= min(count, length)

    def lines(self, *, but_youngest: int = 0) -> list[str]:
        """Comments of a playlist, for whoever has to delete them; `kept` takes them back."""
        left, lines = self._count - but_youngest, []
        for first, count in self._runs:
            if left <= 0:
                break
            lines.append(f"{_KEPT}{first},{min(count, left)}")
            left -= count
        return lines
