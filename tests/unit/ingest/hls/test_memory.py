"""The memory of all segments together: who keeps the most gives way."""

from __future__ import annotations

from onair_ingest.hls.memory import MOST_SEGMENT_BYTES, Memory


class KeptSizes:
    """Segments of which there are sizes alone, the oldest first."""

    def __init__(self, *sizes: int) -> None:
        self.sizes = list(sizes)

    @property
    def kept_bytes(self) -> int:
        return sum(self.sizes)

    @property
    def kept_count(self) -> int:
        return len(self.sizes)

    def lose_first(self) -> None:
        del self.sizes[0]


def kept_after(most_bytes: int, *streams: KeptSizes) -> list[list[int]]:
    memory = Memory(most_bytes)
    for each in streams:
        memory.add(each)
    memory.make_room()
    return [each.sizes for each in streams]


def test_nobody_gives_way_while_there_is_room() -> None:
    assert kept_after(200, KeptSizes(30, 30, 30), KeptSizes(5, 5)) == [[30, 30, 30], [5, 5]]


def test_who_keeps_the_most_loses_its_oldest_segments() -> None:
    assert kept_after(200, KeptSizes(51, 31, 30), KeptSizes(5, 5), KeptSizes(20, 20)) == [
        [30],
        [5, 5],
        [20, 20],
    ]


def test_each_stream_keeps_its_last_segment() -> None:
    assert kept_after(20, KeptSizes(30, 31), KeptSizes(1, 5)) == [[31], [5]]


def test_segments_that_are_made_share_the_other_half() -> None:
    memory, streams = Memory(24 * MOST_SEGMENT_BYTES), [KeptSizes() for _ in range(50)]
    for each in streams:
        memory.add(each)
    assert 50 * memory.segment_bytes <= 12 * MOST_SEGMENT_BYTES
    for each in streams[12:]:
        memory.remove(each)
    assert memory.segment_bytes == MOST_SEGMENT_BYTES
