"""A recording: its playlist names every segment, and none is ever deleted."""

from __future__ import annotations

from itertools import islice, pairwise

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.playlist import last_named
from onair_encoder.publish.hls.presentation import INDEX, Presentation, SegmentWriter, is_recording
from onair_encoder.publish.hls.segment_name import SegmentName

PLAYLIST_BYTES_PER_S = 50_000
"""A long recording's playlist is stored less often, so that it takes no more of the upload bandwidth."""
BEHIND_PLAYLIST_S = 10.0
"""How often the playlist is stored while more segments wait: it takes of the upload bandwidth."""


LEAST_HOLE_S = 0.5
"""A smaller one is within the accuracy of the clock."""


class Recording(Presentation):
    """The names of its segments are never those of a live window, which would delete them."""

    def __init__(self, storage: ProgramStorage, writer: SegmentWriter) -> None:
        super().__init__(storage, writer)
        self.prefix = f"{writer.broadcast}_rec-"
        self.index = f"{writer.broadcast}.m3u8"
        # A playlist of its own: the next run's does not replace it
        self.copies = (INDEX,)
        self.tail = SegmentName(self.prefix, 0, writer.epoch, writer.process).tail
        self._copied = False
        """What is under the other name is this playlist, and no former broadcast's."""
        self._tail_withdrawn = False
        self._tails: list[str] = []
        """That are of no more use once a playlist is stored."""
        self._stored_at, self._stored_bytes = 0.0, 0
        self._stored_end = False
        """Who reads the stored playlist takes it for the whole recording."""
        self._looked_at, self._holes_s = 0, 0.0
        """Segments that were looked at, and the holes between them."""

    @property
    def missing_s(self) -> float:
        """Holes between segments: what was dropped, and what no encoder had.

        Exact within one process; between two encoders, by the difference of their clocks.
        """
        if self._looked_at > len(self.playlist.segments):
            self._looked_at, self._holes_s = 0, 0.0
        for before, after in pairwise(islice(self.playlist.segments, max(0, self._looked_at - 1), None)):
            hole_s = (after.began - before.began).total_seconds() - before.duration_s
            if after.discontinuity and hole_s > LEAST_HOLE_S:
                self._holes_s += hole_s
        self._looked_at = len(self.playlist.segments)
        return self._holes_s

    @property
    def _window(self) -> int | None:
        return None

    @property
    def spool_s(self) -> float | None:
        return None

    @property
    def complete(self) -> bool:
        """Whether it has its longest duration."""
        limit_ms = self.storage.max_duration_ms
        return limit_ms > 0 and self.playlist.total_s * 1000 >= limit_ms

    @property
    def lacks_what_waits(self) -> bool:
        return not self.complete

    def copy_displaced_by(self, text: str) -> str | None:
        last = SegmentName.of(last_named(text))
        if self._copied and last and last.prefix != self.prefix:
            return "another broadcast"
        return self.displaced_by(text)

    def copy_stored(self) -> None:
        self._copied = True

    def tail_of(self, text: str) -> str:
        last = SegmentName.of(last_named(text))
        known = last is not None and last.prefix == self.prefix and last.epoch is not None
        return last.tail if last and known else ""

    def resume(self, text: str, tail: str = "") -> None:
        if not is_recording(text) or not self._resume_own(text):
            return
        self.playlist.extend(tail, self.prefix)
        if tail:
            self._tails.append(self.tail_of(text))

    def is_playlist_due(self, now: float, *, last: bool) -> bool:
        """Ever less often as it grows, but always at its end, and where it continues after one."""
        if self.playlist.ended or self._stored_end:
            return True
        pause_s = self._stored_bytes / PLAYLIST_BYTES_PER_S
        return now >= self._stored_at + (pause_s if last else max(pause_s, BEHIND_PLAYLIST_S))

    def playlist_stored(self, now: float, size: int) -> None:
        super().playlist_stored(now, size)
        self._stored_at, self._stored_bytes = now, size
        self._stored_end = self.playlist.ended

    def withdraw(self, known: set[str]) -> list[str]:
        self._tail_withdrawn = True
        return super().withdraw(known)

    def leave_unread(self) -> None:
        # It lists what an encoder before this one has stored
        self.index = f"{self._writer.broadcast}.{self._writer.epoch}.{self._writer.process}.m3u8"

    def tail_stored(self) -> None:
        self._tail_withdrawn = False
        if self.tail not in self._tails:
            self._tails.append(self.tail)

    def obsolete(self) -> list[str]:
        return [each for each in self._tails if each != self.tail or self._of_no_more_use]

    @property
    def _of_no_more_use(self) -> bool:
        """Its tail."""
        return self.playlist.ended or self._tail_withdrawn

    def deleted(self, name: str) -> None:
        self._tails.remove(name)
