"""Lines of a response that comes in pieces."""

from __future__ import annotations

import pytest

from onair_crds.kube.line_splitter import LineSplitter

TEXT = b"first\n\n  \nsecond\r\nthe third is longer\nunended"
LINES = [b"first", b"second", b"the third is longer"]


@pytest.mark.parametrize("size", range(1, len(TEXT) + 1))
def test_lines_are_the_same_whatever_pieces_they_come_in(size: int) -> None:
    lines = LineSplitter()
    found = [line for at in range(0, len(TEXT), size) for line in lines.ended_by(TEXT[at : at + size])]
    assert found == LINES
    assert [*lines.ended_by(b" one\n")] == [b"unended one"]
