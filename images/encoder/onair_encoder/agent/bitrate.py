"""The bitrate of the programme, measured."""

from __future__ import annotations

import time


class BitrateMeter:
    """Bits per second of a count of bytes, over at least a second."""

    def __init__(self) -> None:
        self._at, self._bytes, self._bps = time.monotonic(), 0, 0

    def bps(self, total_bytes: int) -> int:
        elapsed_s = time.monotonic() - self._at
        if elapsed_s >= 1.0:
            self._bps = round((total_bytes - self._bytes) * 8 / elapsed_s)
            self._at, self._bytes = time.monotonic(), total_bytes
        return self._bps
