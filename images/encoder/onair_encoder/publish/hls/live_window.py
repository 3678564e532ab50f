"""A sliding window over the last segments; older ones are deleted."""

from __future__ import annotations

import re

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.hls.playlist import named_segments
from onair_encoder.publish.hls.presentation import INDEX, Presentation, is_recording
from onair_encoder.publish.hls.segmenter import Cut

LEAST_SPOOL_S = 60.0
"""How far a live window may be behind the show, so that a slow network leads no viewer ever further back."""
DELETED_AT_ONCE = 4
"""Segments that are deleted with one that is stored: a thousand at once would delay what is live."""
SEGMENT_NAME = re.compile(r"([a-z0-9-]+-)([0-9]{8,})\.ts")


class LiveWindow(Presentation):
    def __init__(self, storage: ProgramStorage, broadcast: str) -> None:
        super().__init__(storage)
        self.prefix = f"{broadcast}-"
        self.index = INDEX
        self.indexes = [INDEX]
        self._stored: list[str] = []
        """Segments of this run that are in the bucket, oldest first."""
        self._old: list[str] = []
        """Segments of an earlier run, which the new playlist no longer names."""

    @property
    def _window(self) -> int | None:
        return min(self.storage.playlist_count, self.storage.file_count)

    @property
    def spool_s(self) -> float | None:
        return max(LEAST_SPOOL_S, self.storage.playlist_count * self.storage.segment_duration_ms / 1000)

    @property
    def complete(self) -> bool:
        return False

    def resume(self, text: str) -> None:
        if is_recording(text):
            return
        if self._resume_own(text):
            names = [segment.name for segment in self.playlist.segments]
            self._stored = [*self._before(names), *names]
        else:
            names = [name for name in named_segments(text) if SEGMENT_NAME.fullmatch(name)]
            self._old = [*self._before(names), *names]

    def _before(self, names: list[str]) -> list[str]:
        """Segments that are kept although the playlist no longer names them."""
        found = SEGMENT_NAME.fullmatch(names[0]) if names else None
        if found is None:
            return []
        first = int(found[2])
        kept = max(0, self.storage.file_count - len(names))
        return [f"{found[1]}{number:08}.ts" for number in range(max(0, first - kept), first)]

    def add(self, cut: Cut) -> None:
        self._stored.append(self.next_name)
        super().add(cut)

    def is_playlist_due(self, now: float, *, last: bool) -> bool:
        return True

    def playlist_stored(self, now: float, size: int) -> None:
        """Stored with each segment, it needs no note."""

    def obsolete(self) -> list[str]:
        surplus = max(0, len(self._stored) - self.storage.file_count)
        return [
            *self._old[:DELETED_AT_ONCE],
            *self._stored[: min(surplus, DELETED_AT_ONCE)],
        ]

    def deleted(self, name: str) -> None:
        for names in (self._old, self._stored):
            if names and names[0] == name:
                names.pop(0)
                return
