"""Media playlists of HTTP Live Streaming (RFC 8216). Pure."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from onair_crds.contract.times import format_time

VERSION = 3
LEAST_TARGETS = 3
"""A sliding window is no shorter than so many target durations (section 6.2.2)."""
_DURATION = re.compile(r"#EXTINF:([0-9]{1,6}(?:\.[0-9]{0,9})?),")
_NUMBER = re.compile(r"[0-9]{1,15}")
_END_CHARS = 4096
"""Of a playlist of ours: its last name is well within them."""
LONGEST_S = 100_000
"""No segment of ours is longer: a playlist that says more is none of ours, and nobody is to wait so long."""


@dataclass(frozen=True)
class Segment:
    """One entry of a playlist."""

    name: str
    """Its file, next to the playlist."""
    duration_s: float
    began: dt.datetime
    """Wall clock of its first frame, UTC."""
    discontinuity: bool = False
    """Timestamps or codecs do not continue those of the segment before."""


class Playlist:
    """A sliding window of the last segments, or all of them."""

    def __init__(self, target_s: float, *, window: int | None) -> None:
        """
        Args:
            target_s: duration that segments are cut at; longer ones raise what the playlist says.
            window: how many segments are named; None for all, of a recording.
        """
        self.target_s = target_s
        """Never less than it was before: it must not change, and where it has to it only grows."""
        self.window = window
        self.media_sequence = 0
        self.discontinuity_sequence = 0
        self.segments: deque[Segment] = deque()
        self._entries: deque[str] = deque()
        """Their lines, formatted once: a long recording has thousands."""
        self.total_s = 0.0
        """Of all that were added."""
        self.ended = False

    @property
    def next_sequence(self) -> int:
        """Number of the segment that comes next."""
        return self.media_sequence + len(self.segments)

    def names(self) -> set[str]:
        return {segment.name for segment in self.segments}

    def add(self, segment: Segment) -> None:
        self.ended = False
        self._append(segment)
        while self.window and len(self.segments) > self.window and self._may_lose_first:
            self.lose_first()

    def lose_first(self) -> None:
        gone = self.segments.popleft()
        self._entries.popleft()
        self.media_sequence += 1
        self.discontinuity_sequence += gone.discontinuity

    @property
    def _may_lose_first(self) -> bool:
        left_s = sum(segment.duration_s for segment in islice(self.segments, 1, None))
        return left_s >= LEAST_TARGETS * math.ceil(self.target_s)

    def _append(self, segment: Segment) -> None:
        self.segments.append(segment)
        self._entries.append(_entry(segment))
        self.total_s += segment.duration_s
        self.target_s = max(self.target_s, math.floor(segment.duration_s + 0.5))

    def __str__(self) -> str:
        return self._text(0)

    def tail(self, count: int) -> str:
        """A playlist of only the last so many segments."""
        return self._text(len(self.segments) - count)

    def withdraw(self, count: int) -> None:
        """Takes the last so many segments back."""
        for _ in range(min(count, len(self.segments))):
            self.total_s -= self.segments.pop().duration_s
            self._entries.pop()

    def _text(self, skipped: int) -> str:
        target = math.ceil(self.target_s)
        lines = ["#EXTM3U", f"#EXT-X-VERSION:{VERSION}", f"#EXT-X-TARGETDURATION:{target}"]
        if self.window is None:
            lines.append(f"#EXT-X-PLAYLIST-TYPE:{'VOD' if self.ended else 'EVENT'}")
        lines.append(f"#EXT-X-MEDIA-SEQUENCE:{self.media_sequence + skipped}")
        if self.discontinuity_sequence:
            lines.append(f"#EXT-X-DISCONTINUITY-SEQUENCE:{self.discontinuity_sequence}")
        lines.append("#EXT-X-INDEPENDENT-SEGMENTS")
        lines += islice(self._entries, skipped, None)
        if self.ended:
            lines.append("#EXT-X-ENDLIST")
        return "\n".join(lines) + "\n"

    def resume(self, text: str, prefix: str) -> bool:
        """Continues a playlist that was written before; the next segment is a discontinuity.

        Args:
            prefix: what the names of this run's segments begin with.

        Returns:
            False if the text is no playlist of this run.
        """
        parsed = _Parsed.of(text, prefix)
        if parsed is None:
            return False
        self.media_sequence = parsed.media_sequence
        self.discontinuity_sequence = parsed.discontinuity_sequence
        self.target_s = max(self.target_s, parsed.target_s)
        self.segments.clear()
        self._entries.clear()
        self.total_s = 0.0
        for segment in parsed.segments:
            self._append(segment)
        return True

    def extend(self, text: str, prefix: str) -> None:
        """Lists what a tail names beyond this playlist, if it is a tail of it."""
        parsed = _Parsed.of(text, prefix)
        if parsed is None:
            return
        known = self.next_sequence - parsed.media_sequence
        for segment in parsed.segments[known:] if known >= 0 else []:
            self._append(segment)

    def follow(self, text: str) -> bool:
        """Takes the numbers on from a playlist of which nothing stays: a player may know it (section 6.2.2).

        Returns:
            False if the text is no playlist.
        """
        parsed = _Parsed.of(text)
        if parsed is None:
            return False
        self.media_sequence = parsed.media_sequence + parsed.count
        self.discontinuity_sequence = parsed.discontinuity_sequence + parsed.discontinuities
        self.target_s = max(self.target_s, parsed.target_s)
        return True


@dataclass
class _Parsed:
    media_sequence: int = 0
    discontinuity_sequence: int = 0
    target_s: int = 0
    segments: list[Segment] = field(default_factory=list)
    count: int = 0
    discontinuities: int = 0

    @classmethod
    def of(cls, text: str, prefix: str | None = None) -> _Parsed | None:
        """Parses a text; None if it is no playlist with segments, or one that is badly written.

        Args:
            prefix: what their names have to begin with; None if they are only counted.
        """
        lines = lines_of(text)
        if next(lines, "") != "#EXTM3U":
            return None
        parsed = cls()
        known = next_one = Segment("", 0.0, dt.datetime.fromtimestamp(0, dt.UTC))
        for line in lines:
            tag, _, value = line.partition(":")
            number = int(value) if _NUMBER.fullmatch(value) else 0
            if tag == "#EXT-X-MEDIA-SEQUENCE":
                parsed.media_sequence = number
            elif tag == "#EXT-X-DISCONTINUITY-SEQUENCE":
                parsed.discontinuity_sequence = number
            elif tag == "#EXT-X-TARGETDURATION":
                if number > LONGEST_S:
                    return None
                parsed.target_s = number
            elif line == "#EXT-X-DISCONTINUITY":
                next_one = replace(next_one, discontinuity=True)
            elif tag == "#EXT-X-PROGRAM-DATE-TIME":
                if (began := _utc(value)) is None:
                    return None
                next_one = replace(next_one, began=began)
            elif tag == "#EXTINF":
                if (found := _DURATION.match(line)) is None:
                    return None
                next_one = replace(next_one, duration_s=float(found[1]))
            elif line and not line.startswith("#"):
                parsed.count += 1
                parsed.discontinuities += next_one.discontinuity
                if prefix is not None:
                    if not _is_of(line, prefix):
                        return None
                    parsed.segments.append(replace(next_one, name=line))
                next_one = known
        return parsed if parsed.count else None


def _utc(text: str) -> dt.datetime | None:
    """None if it is no time, or one without its zone."""
    try:
        time = dt.datetime.fromisoformat(text)
        return time.astimezone(dt.UTC) if time.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _is_of(name: str, prefix: str) -> bool:
    """Whether a name is of this run: its id may begin with that of another and a dash."""
    return name.startswith(prefix) and "-" not in name.removeprefix(prefix)


def _entry(segment: Segment) -> str:
    began = format_time(segment.began)
    lines = ["#EXT-X-DISCONTINUITY"] if segment.discontinuity else []
    lines += [f"#EXT-X-PROGRAM-DATE-TIME:{began}", f"#EXTINF:{segment.duration_s:.3f},", segment.name]
    return "\n".join(lines)


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text that are not empty, one by one: a list of all may take many times its memory."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if line := text[start:end].rstrip("\r"):
            yield line
        start = end + 1


def each_named(text: str) -> Iterator[str]:
    """The files that a playlist names, one after the other."""
    return (line for line in lines_of(text) if not line.startswith("#"))


def named_segments(text: str) -> list[str]:
    """The files that a playlist names."""
    return list(each_named(text))


def last_named(text: str) -> str:
    """The file that a playlist names at its end; empty if it names none there."""
    end = text[-_END_CHARS:]
    if len(text) > _END_CHARS:
        end = end.partition("\n")[2]  # the first line may be half of one
    return next(reversed(named_segments(end)), "")
