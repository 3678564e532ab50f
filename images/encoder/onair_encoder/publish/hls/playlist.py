"""Media playlists of HTTP Live Streaming (RFC 8216). Pure."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import deque
from dataclasses import dataclass, replace

from onair_crds.contract.times import format_time

VERSION = 3
_DURATION = re.compile(r"#EXTINF:([0-9.]+)")


@dataclass(frozen=True)
class Segment:
    name: str
    """Its file, beside the playlist."""
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

    def add(self, segment: Segment) -> None:
        self.ended = False
        self._append(segment)
        while self.window and len(self.segments) > self.window:
            gone = self.segments.popleft()
            self._entries.popleft()
            self.media_sequence += 1
            self.discontinuity_sequence += gone.discontinuity

    def _append(self, segment: Segment) -> None:
        self.segments.append(segment)
        self._entries.append(_entry(segment))
        self.total_s += segment.duration_s
        self.target_s = max(self.target_s, math.floor(segment.duration_s + 0.5))

    def __str__(self) -> str:
        target = math.ceil(self.target_s)
        lines = ["#EXTM3U", f"#EXT-X-VERSION:{VERSION}", f"#EXT-X-TARGETDURATION:{target}"]
        if self.window is None:
            lines.append(f"#EXT-X-PLAYLIST-TYPE:{'VOD' if self.ended else 'EVENT'}")
        lines.append(f"#EXT-X-MEDIA-SEQUENCE:{self.media_sequence}")
        if self.discontinuity_sequence:
            lines.append(f"#EXT-X-DISCONTINUITY-SEQUENCE:{self.discontinuity_sequence}")
        lines.append("#EXT-X-INDEPENDENT-SEGMENTS")
        lines += self._entries
        if self.ended:
            lines.append("#EXT-X-ENDLIST")
        return "\n".join(lines) + "\n"

    def resume(self, text: str, prefix: str) -> bool:
        """Continues a playlist that was written before; the next segment is a discontinuity.

        Args:
            prefix: what the names of this run's segments begin with.

        Returns:
            False where the text is no playlist of this run.
        """
        lines = text.splitlines()
        if not lines or lines[0] != "#EXTM3U":
            return False
        segments: list[Segment] = []
        known = Segment("", 0.0, dt.datetime.fromtimestamp(0, dt.UTC))
        numbers = {"#EXT-X-MEDIA-SEQUENCE": 0, "#EXT-X-DISCONTINUITY-SEQUENCE": 0, "#EXT-X-TARGETDURATION": 0}
        next_one = known
        for line in lines[1:]:
            tag, _, value = line.partition(":")
            if tag in numbers and value.isdigit():
                numbers[tag] = int(value)
            elif line == "#EXT-X-DISCONTINUITY":
                next_one = replace(next_one, discontinuity=True)
            elif tag == "#EXT-X-PROGRAM-DATE-TIME":
                try:
                    next_one = replace(next_one, began=dt.datetime.fromisoformat(value))
                except ValueError:
                    return False
            elif found := _DURATION.match(line):
                next_one = replace(next_one, duration_s=float(found[1]))
            elif line and not line.startswith("#"):
                segments.append(replace(next_one, name=line))
                next_one = known
        if not segments or not all(_is_of(segment.name, prefix) for segment in segments):
            return False
        self.media_sequence = numbers["#EXT-X-MEDIA-SEQUENCE"]
        self.discontinuity_sequence = numbers["#EXT-X-DISCONTINUITY-SEQUENCE"]
        self.target_s = max(self.target_s, numbers["#EXT-X-TARGETDURATION"])
        self.segments.clear()
        self._entries.clear()
        self.total_s = 0.0
        for segment in segments:
            self._append(segment)
        return True


def _is_of(name: str, prefix: str) -> bool:
    """Whether a name is of this run: its id may begin with that of another and a dash."""
    return name.startswith(prefix) and "-" not in name.removeprefix(prefix)


def _entry(segment: Segment) -> str:
    began = format_time(segment.began)
    lines = ["#EXT-X-DISCONTINUITY"] if segment.discontinuity else []
    lines += [f"#EXT-X-PROGRAM-DATE-TIME:{began}", f"#EXTINF:{segment.duration_s:.3f},", segment.name]
    return "\n".join(lines)


def named_segments(text: str) -> list[str]:
    """The files that a playlist names."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]
