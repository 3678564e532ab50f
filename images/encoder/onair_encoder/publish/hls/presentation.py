"""The presentation that a player is offered: segments with their names, and their playlist."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.playlist import Playlist, Segment, each_named, last_named
from onair_crds.media.segmenter import Cut
from onair_encoder.publish.hls.segment_name import SegmentName


@dataclass(frozen=True)
class SegmentWriter:
    """An encoder, as the names of its segments identify it."""

    broadcast: str = ""
    epoch: int = 0
    process: str = "0"
    """Names this process: no other one, of the same epoch, gives the same names."""


INDEX = "index.m3u8"
_RECORDING_TAG = "#EXT-X-PLAYLIST-TYPE:"
_END_TAG = "#EXT-X-ENDLIST"


class Presentation(ABC):
    """Either a live window or a recording, of one run. Knows names and order, and stores nothing."""

    prefix: str
    """The beginning of its segments' names: no other run's are taken for them."""
    index: str
    """The playlist that a successor resumes from."""
    most_read: int | None = None
    """How many bytes of the stored playlist are read; None for all, and one that is too large is an error."""
    copies: tuple[str, ...] = ()
    """Other names that it is stored under."""
    tail = ""
    """The object that names what the stored playlist does not name yet; empty if there is none."""

    def __init__(self, storage: ProgramStorage, writer: SegmentWriter) -> None:
        self.storage = storage
        self._writer = writer
        self.playlist = Playlist(storage.segment_duration_ms / 1000, window=self._window)
        self._seam = False
        """The next segment does not continue the one before."""
        self._withdrawn = 0
        """Segments whose numbers are not given again."""
        self.unlisted: list[str] = []
        """Stored segments that no stored playlist names yet."""

    def update(self, storage: ProgramStorage) -> None:
        """Applies what may change while on air."""
        self.storage = storage
        self.playlist.target_s = max(self.playlist.target_s, storage.segment_duration_ms / 1000)
        self.playlist.window = self._window

    @property
    @abstractmethod
    def _window(self) -> int | None:
        """How many segments the playlist names; None for all."""

    @property
    @abstractmethod
    def spool_s(self) -> float | None:
        """How much may wait for its upload; None if only its size is limited."""

    @property
    def missing_s(self) -> float:
        """Seconds that ought to be in it and are not."""
        return 0.0

    @property
    def lacks_what_waits(self) -> bool:
        """Whether something is missing where what waits is never stored."""
        return False

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether it takes no more segments."""

    def tail_of(self, text: str) -> str:
        """The object that names what this stored playlist does not; empty if there is none."""
        return ""

    @abstractmethod
    def resume(self, text: str, tail: str = "") -> None:
        """Continues the playlist that another encoder has stored; empty if there is none.

        Args:
            tail: what it has stored since.
        """

    def resume_unread(self) -> None:
        """Continues a playlist that may not be read, with a number that none before can have reached."""
        self.playlist.media_sequence = int(time.time())
        self._seam = True

    def leave_unread(self) -> None:
        """Notes that there is a playlist that may not be read; a window replaces it."""
        return

    def _resume_own(self, text: str) -> bool:
        """Whether the text is a playlist of this run, which is continued then."""
        if not self.playlist.resume(text, self.prefix):
            return False
        self._seam = True
        return True

    @property
    def next_name(self) -> str:
        """The name of the next segment."""
        writer = self._writer
        number = self.playlist.next_sequence + self._withdrawn
        return str(SegmentName(self.prefix, number, writer.epoch, writer.process))

    def text(self) -> str:
        """The playlist, as it is stored."""
        return str(self.playlist)

    def copy_displaced_by(self, text: str) -> str | None:
        """Who else writes where a copy is stored, by the playlist that is there; None if nobody does."""
        return None

    def copy_stored(self) -> None:
        """Notes that the copy of the playlist is stored."""
        return

    def tail_text(self) -> str:
        """What is stored as the tail."""
        return self.playlist.tail(len(self.unlisted))

    def displaced_by(self, text: str) -> str | None:
        """Who else writes there, by the playlist that is stored there now; None if nobody does."""
        last = SegmentName.of(last_named(text))
        if last and last.prefix == self.prefix and (last.epoch or 0) > self._writer.epoch:
            return f"encoder {last.epoch} of this broadcast"
        return None

    def may_take_back(self, text: str) -> bool:
        """Whether the playlist that has displaced this one is of a broadcast that has ended."""
        return False

    def take_back(self, text: str) -> None:
        """Goes on after the playlist that had displaced this one."""
        return

    def stored_late(self, text: str) -> list[SegmentName]:
        """What a playlist names that an encoder of a lower epoch has stored since this one resumed.

        It changes nothing, and may run in a thread.
        """
        return []

    def overtake(self, late: list[SegmentName]) -> None:
        """Notes segments that a writer before this one has stored late."""
        return

    def add(self, cut: Cut, name: str) -> None:
        """Lists a segment that is stored under this name."""
        discontinuity = cut.discontinuity or self._seam
        self.playlist.add(Segment(name, cut.duration_s, cut.began, discontinuity))
        self.unlisted.append(name)
        self._seam = False

    def known_to(self, others: str) -> set[str]:
        """Which of the segments that may be withdrawn the playlist of another encoder knows.

        It changes nothing, and may run in a thread.
        """
        return set(self.unlisted).intersection(each_named(others))

    def withdraw(self, known: set[str]) -> list[str]:
        """Forgets what no stored playlist names; returns what of it is to be deleted.

        Args:
            known: to the encoder that has taken over.
        """
        withdrawn = [name for name in self.unlisted if name not in known]
        self.playlist.withdraw(len(self.unlisted))
        self._withdrawn += len(self.unlisted)
        self.unlisted = []
        self._seam = True
        return withdrawn

    @abstractmethod
    def is_playlist_due(self, now: float, *, last: bool) -> bool:
        """Whether the playlist is to be stored, at a time of a monotonic clock.

        Args:
            last: no segment waits.
        """

    def playlist_stored(self, now: float, size: int) -> None:
        """Notes that the playlist is stored."""
        self.unlisted = []

    def tail_stored(self) -> None:
        """Notes that the tail is stored."""
        return

    @abstractmethod
    def obsolete(self) -> list[str]:
        """Objects to be deleted next, now that a playlist is stored that names none of them."""

    @property
    def undeleted(self) -> int:
        """How many segments are in the bucket that ought not to be."""
        return 0

    @abstractmethod
    def deleted(self, name: str) -> None:
        """Notes that a segment was deleted."""


def is_recording(text: str) -> bool:
    """Whether a playlist is a recording's."""
    return _RECORDING_TAG in text


def has_ended(text: str) -> bool:
    """Whether nobody adds to a playlist any more."""
    return _END_TAG in text
