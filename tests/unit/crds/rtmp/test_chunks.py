"""Chunks are decoded to the messages they were encoded from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_crds.rtmp.chunks import MAX_STREAMS, ChunkError, ChunkReader, message_chunks


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
