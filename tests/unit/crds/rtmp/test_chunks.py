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


def test_a_server_cannot_have_much_kept_for_it() -> None:
    begun = b"".join(
        b"\x00" + bytes((n,)) + bytes(5) + b"\xff\x14" + bytes(4 + 128) for n in range(MAX_STREAMS + 1)
    )
    with pytest.raises(ChunkError, match="too many chunk streams"):
        list(ChunkReader().feed(begun))
    with pytest.raises(ChunkError, match="a message of 16777215 bytes"):
        list(ChunkReader().feed(b"\x03\0\0\0\xff\xff\xff\x14\0\0\0\0"))
