"""Divides what comes in pieces into lines, which may be megabytes long."""

from __future__ import annotations

from collections.abc import Iterator

END = b"\n"


class LineSplitter:
    """Keeps the pieces of the line that has not ended yet; they are joined once."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def ended_by(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in this piece, without those that are blank."""
        if END not in piece:
            self._pieces.append(piece)
            return
        data, begin = b"".join([*self._pieces, piece]), 0
        self._pieces.clear()
        while (end := data.find(END, begin)) >= 0:
            if line := data[begin:end].strip():
                yield line
            begin = end + 1
        if begin < len(data):
            self._pieces.append(data[begin:])
