"""Chunks are decoded to the messages they were encoded from."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onair_crds.rtmp.chunks import (
    MAX_MESSAGE,
    MAX_STREAMS,
    ChunkError,
    ChunkReader,
    RtmpMessage,
    message_chunks,
)


@given(
    st.lists(
        st.tuples(st.sampled_from([4, 6]), st.integers(0, 2**32 - 1), st.binary(max_size=900)), max_size=8
    ),
    st.integers(1, 300),
)
def test_chunks_become_the_messages_they_were(messages: list[tuple[int, int, bytes]], piece: int) -> None:
    wire = b"".join(
        part
        for stream, time_ms, body in messages
        for part in message_chunks(stream, 9, 1, time_ms, body, chunk_size=128)
    )
    reader = ChunkReader()
    read = [m for i in range(0, len(wire), piece) for m in reader.feed(wire[i : i + piece])]
    assert [(m.timestamp_ms, m.body) for m in read] == [(t, b) for _, t, b in messages]


@pytest.mark.parametrize("size", [1, 127, 128, 129, 257])
def test_a_message_is_complete_with_its_last_byte(size: int) -> None:
    """Also where that is alone in its chunk: a peer that waits for the response to it sends no more."""
    wire = b"".join(message_chunks(3, 20, 0, 0, bytes(size), chunk_size=128))
    for piece in (1, len(wire)):
        reader = ChunkReader()
        read = [m for i in range(0, len(wire), piece) for m in reader.feed(wire[i : i + piece])]
        assert [len(m.body) for m in read] == [size]


@pytest.mark.parametrize("stream", [b"\x00\x05", b"\x01\x05\x02"])
def test_numbers_of_chunk_streams_may_come_in_parts(stream: bytes) -> None:
    wire = stream + bytes(3) + b"\0\0\2" + b"\x14" + bytes(4) + b"ab"
    reader = ChunkReader()
    assert [m.body for byte in wire for m in reader.feed(bytes((byte,)))] == [b"ab"]


def test_a_server_cannot_have_much_kept_for_it() -> None:
    begun = b"".join(
        b"\x00" + bytes((n,)) + bytes(5) + b"\xff\x14" + bytes(4 + 128) for n in range(MAX_STREAMS + 1)
    )
    with pytest.raises(ChunkError, match="too many chunk streams"):
        list(ChunkReader().feed(begun))
    with pytest.raises(ChunkError, match="a message of 16777215 bytes"):
        list(ChunkReader().feed(b"\x03\0\0\0\xff\xff\xff\x14\0\0\0\0"))


HEADERS = st.builds(
    lambda kind, stream, time, length, rest: (
        bytes((kind << 6 | stream,))
        + (time + length.to_bytes(3, "big") + bytes(5))[: (11, 7, 3, 0)[kind]]
        + rest
    ),
    st.integers(0, 3),
    st.integers(2, 4),
    st.sampled_from([b"\0\0\1", b"\xff\xff\xff"]),
    st.sampled_from([0, 1, 5, 127, 128, 129, 1000, MAX_MESSAGE]),
    st.binary(max_size=140),
)
"""Chunks, often in the middle of another message of their stream."""
SHORTER = b"\x03\0\0\0\0\1\0\x14\0\0\0\0" + bytes(128) + b"\x03\0\0\0\0\0\5\x14\0\0\0\0hello"


@pytest.mark.fuzz
@given(st.lists(HEADERS | st.binary(max_size=20), max_size=12).map(b"".join), st.integers(1, 200))
@example(SHORTER, 1)
def test_any_bytes_are_messages_or_an_error_however_they_come(data: bytes, piece: int) -> None:
    def outcome(feed: Callable[[ChunkReader], list[RtmpMessage]]) -> list[RtmpMessage] | str:
        try:
            return feed(ChunkReader())
        except ChunkError as error:
            return str(error)

    in_pieces = [data[i : i + piece] for i in range(0, len(data), piece)]
    read = outcome(lambda reader: [m for part in in_pieces for m in reader.feed(part)])
    assert read == outcome(lambda reader: list(reader.feed(data)))
    if not isinstance(read, str):
        assert sum(len(each.body) for each in read) <= len(data)


def test_a_message_that_ends_before_what_has_come_of_it_is_an_error() -> None:
    with pytest.raises(ChunkError, match="shorter than what has come of it"):
        list(ChunkReader().feed(SHORTER))
