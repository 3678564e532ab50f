"""A sliding window over the last segments; older ones are deleted."""

from __future__ import annotations

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.hls.playlist import named_segments
from onair_encoder.publish.hls.presentation import INDEX, Presentation, Writer, is_recording
from onair_encoder.publish.hls.segment_name import SegmentName, kept_lines, kept_names
from onair_encoder.publish.hls.segmenter import Cut

LEAST_SPOOL_S = 60.0
"""How far a live window may be behind the show, so that a slow network leads no viewer ever further back."""
DELETED_AT_ONCE = 4
"""Segments that are deleted with one that is stored: a thousand at once would delay what is live."""


class LiveWindow(Presentation):
    def __init__(self, storage: ProgramStorage, writer: Writer) -> None:
        super().__init__(storage, writer)
        self.prefix = f"{writer.broadcast}-"
        self.index = INDEX
        self._stored: list[str] = []
        """Segments of this run that are in the bucket, oldest first."""
        self._old: list[str] = []
        """Segments of an earlier run, which the new playlist no longer names."""
        self._ours = False
        """The playlist in the bucket is this one."""

    @property
    def _window(self) -> int | None:
        return min(self.storage.playlist_count, self.storage.file_count)

    @property
    def spool_s(self) -> float | None:
        return max(LEAST_SPOOL_S, self.storage.playlist_count * self.storage.segment_duration_ms / 1000)

    @property
    def complete(self) -> bool:
        return False

    def resume(self, text: str, tail: str = "") -> None:
        if is_recording(text):
            return
        names = [*self._kept(text), *(name for name in named_segments(text) if SegmentName.of(name))]
        if self._resume_own(text):
            self._stored = [name for name in names if self._is_own(name)]
            self._old = [name for name in names if not self._is_own(name)]
        else:
            self._old = names
            self._seam = self.playlist.follow(text)

    def _is_own(self, name: str) -> bool:
        known = SegmentName.of(name)
        return known is not None and known.prefix == self.prefix

    def _kept(self, text: str) -> list[str]:
        """Segments that are kept although the playlist no longer names them."""
        names = [name for name in map(SegmentName.of, named_segments(text)) if name]
        if names and names[0].epoch is None:
            # Of an earlier version, which gave names by number alone
            kept = min(names[0].number, max(0, self.storage.file_count - len(names)))
            return [str(names[0].later(-before)) for before in range(kept, 0, -1)]
        return list(kept_names(text))

    def text(self) -> str:
        """The playlist, with comments that name what else is to be deleted one day."""
        unnamed = max(0, len(self._stored) - len(self.playlist.segments))
        head, _, rest = str(self.playlist).partition("\n")
        return "\n".join([head, *kept_lines([*self._old, *self._stored[:unnamed]]), rest])

    def displaced_by(self, text: str) -> str | None:
        last = SegmentName.of((named_segments(text) or [""])[-1])
        if self._ours and last and last.prefix != self.prefix and not is_recording(text):
            return "another broadcast"
        return super().displaced_by(text)

    def add(self, cut: Cut, name: str) -> None:
        self._stored.append(name)
        super().add(cut, name)

    def withdraw(self) -> None:
        del self._stored[len(self._stored) - len(self.unlisted) :]
        super().withdraw()

    def is_playlist_due(self, now: float, *, last: bool) -> bool:
        return True

    def playlist_stored(self, now: float, size: int) -> None:
        super().playlist_stored(now, size)
        self._ours = True

    def obsolete(self) -> list[str]:
        # Who has just fetched a playlist may fetch what it names for as long as it lasts (RFC 8216, 6.2.2)
        kept = max(self.storage.file_count, 2 * len(self.playlist.segments) + 1)
        surplus = max(0, len(self._stored) - kept)
        return [
            *self._old[:DELETED_AT_ONCE],
            *self._stored[: min(surplus, DELETED_AT_ONCE)],
        ]

    def deleted(self, name: str) -> None:
        for names in (self._old, self._stored):
            if name in names[: 2 * DELETED_AT_ONCE]:
                names.remove(name)
                return
