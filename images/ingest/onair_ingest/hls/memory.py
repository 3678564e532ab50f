"""The memory of all segments of a gateway: half of it for those that are kept, half for those being made."""

from __future__ import annotations

from typing import Protocol

MOST_SEGMENT_BYTES = 32 * 2**20
"""10 s, as far as key frames may be apart, at 25 Mbit/s."""
SHARE = 3 / 8
"""Of the container's memory. Previews in rooms are processes in it too, a dozen take as much again."""


class FinishedSegments(Protocol):
    """The finished segments of one stream."""

    @property
    def kept_bytes(self) -> int: ...

    @property
    def kept_count(self) -> int: ...

    def lose_first(self) -> None:
        """Forgets the oldest."""


class Memory:
    """Bounds the memory of all segments, and drops the oldest beyond it."""

    def __init__(self, most_bytes: int) -> None:
        """
        Args:
            most_bytes: of all segments together.
        """
        self._half = most_bytes // 2
        self._streams: list[FinishedSegments] = []

    def add(self, segments: FinishedSegments) -> None:
        self._streams.append(segments)

    def remove(self, segments: FinishedSegments) -> None:
        self._streams.remove(segments)

    @property
    def segment_bytes(self) -> int:
        """The bound of one segment that is being made, while so many streams are played."""
        return min(MOST_SEGMENT_BYTES, self._half // max(1, len(self._streams)))

    def make_room(self) -> None:
        """Who keeps the most loses its oldest segments; each stream has one at least."""
        size = sum(each.kept_bytes for each in self._streams)
        while size > self._half and (several := [each for each in self._streams if each.kept_count > 1]):
            largest = max(several, key=lambda each: each.kept_bytes)
            size -= largest.kept_bytes
            largest.lose_first()
            size += largest.kept_bytes
