"""A sliding window over the last segments; older ones are deleted."""

from __future__ import annotations

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.playlist import each_named, last_named
from onair_crds.media.segmenter import Cut
from onair_encoder.publish.hls.presentation import (
    INDEX,
    Presentation,
    SegmentWriter,
    has_ended,
    is_recording,
)
from onair_encoder.publish.hls.segment_name import SegmentName
from onair_encoder.publish.hls.segment_runs import SegmentRuns

LEAST_SPOOL_S = 60.0
"""How far a live window may be behind the show, so that a slow network leads no viewer ever further back."""
MOST_READ = 4 * 2**20
"""Bytes, twice those of the longest window's playlist. Of a recording the beginning says that it is one."""
MOST_LATE = 10_000
"""Segments: the longest window."""
DELETED_AT_ONCE = 4
"""Segments that are deleted with one that is stored: a thousand at once would delay what is live."""


class LiveWindow(Presentation):
    def __init__(self, storage: ProgramStorage, writer: SegmentWriter) -> None:
        super().__init__(storage, writer)
        self.prefix = f"{writer.broadcast}-"
        self.index = INDEX
        self.most_read = MOST_READ
        self._stored = SegmentRuns()
        """Segments of this run that are in the bucket."""
        self._old = SegmentRuns()
        """Segments of an earlier run, which the new playlist no longer names."""
        self._ours = False
        """The playlist in the bucket is this one."""
        self._resumed_at: int | None = None
        """The number of the first segment of this encoder."""

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
        kept = self._kept(text)
        if self._resume_own(text):
            self._stored.extend(kept.of(self.prefix))
            self._old.extend(kept.of(self.prefix, other=True))
        else:
            self._old = kept
            self._seam = self.playlist.follow(text)
        self._resumed_at = self.playlist.next_sequence

    def stored_late(self, text: str) -> list[SegmentName]:
        if (resumed_at := self._resumed_at) is None:
            return []
        return [
            name
            for name in filter(None, map(SegmentName.of, each_named(text)))
            if name.prefix == self.prefix
            and name.number >= resumed_at
            and (name.epoch or 0) < self._writer.epoch
        ]

    def overtake(self, late: list[SegmentName]) -> None:
        for name in late[-MOST_LATE:]:
            if name not in self._old:
                self._old.append(name)

    def _kept(self, text: str) -> SegmentRuns:
        """Segments that are in the bucket by what a playlist says, whether it still names them or not."""
        kept = SegmentRuns.kept(text)
        names = [name for name in map(SegmentName.of, each_named(text)) if name]
        if names and names[0].epoch is None:
            # Of an earlier version, which named files only by number
            count = min(names[0].number, max(0, self.storage.file_count - len(names)))
            kept.append(names[0].later(-count), count)
        kept.extend((name, 1) for name in names)
        return kept

    def text(self) -> str:
        """The playlist, with comments that name what else is to be deleted one day."""
        head, _, rest = str(self.playlist).partition("\n")
        kept = self._stored.lines(but_youngest=len(self.playlist.segments))
        return "\n".join([head, *self._old.lines(), *kept, rest])

    def displaced_by(self, text: str) -> str | None:
        last = SegmentName.of(last_named(text))
        if self._ours and last and last.prefix != self.prefix and not is_recording(text):
            return "another broadcast"
        return super().displaced_by(text)

    def may_take_back(self, text: str) -> bool:
        last = SegmentName.of(last_named(text))
        return last is not None and last.prefix != self.prefix and has_ended(text)

    def take_back(self, text: str) -> None:
        # Numbers that this one has given since the other one began are in names that are never given again
        own_next = self.playlist.next_sequence + self._withdrawn
        self.playlist.follow(text)
        self.playlist.withdraw(len(self.playlist.segments))
        self.playlist.media_sequence = max(self.playlist.media_sequence, own_next)
        self._withdrawn, self.unlisted, self._seam = 0, [], True
        self._old, self._stored = self._stored, SegmentRuns()
        self._old.extend(self._kept(text).of(self.prefix, other=True))
        self._ours, self._resumed_at = False, self.playlist.next_sequence

    def add(self, cut: Cut, name: str) -> None:
        if known := SegmentName.of(name):
            self._stored.append(known)
        super().add(cut, name)

    def known_to(self, others: str) -> set[str]:
        ours, kept = {segment.name for segment in self.playlist.segments}, SegmentRuns.kept(others)
        to_be_deleted = {each for each in ours if (name := SegmentName.of(each)) and name in kept}
        return ours.intersection(each_named(others)) | to_be_deleted

    def withdraw(self, known: set[str]) -> list[str]:
        # The other one may have begun between two playlists of this one, of which it has read only the first
        unknown = [
            segment.name
            for segment in self.playlist.segments
            if segment.name not in known
            and (name := SegmentName.of(segment.name))
            and (name.epoch, name.process) == (self._writer.epoch, self._writer.process)
        ]
        self._stored.drop_youngest(len(self.unlisted))
        super().withdraw(known)
        return unknown

    def is_playlist_due(self, now: float, *, last: bool) -> bool:
        return True

    def playlist_stored(self, now: float, size: int) -> None:
        super().playlist_stored(now, size)
        self._ours = True

    def obsolete(self) -> list[str]:
        # Whoever has just fetched a playlist may fetch what it names for its duration (RFC 8216, 6.2.2)
        return [
            *self._old.oldest(DELETED_AT_ONCE),
            *self._stored.oldest(min(self._surplus, DELETED_AT_ONCE)),
        ]

    @property
    def _surplus(self) -> int:
        """How many of this run are no longer to be kept."""
        kept = max(self.storage.file_count, 2 * len(self.playlist.segments) + 1)
        return max(0, len(self._stored) - kept)

    @property
    def undeleted(self) -> int:
        return len(self._old) + self._surplus + self._old.forgotten + self._stored.forgotten

    def deleted(self, name: str) -> None:
        if not self._old.remove(name):
            self._stored.remove(name)
