"""The body of a request, written piece by piece, so that its progress is known."""

from __future__ import annotations

from aiohttp import Payload
from aiohttp.abc import AbstractStreamWriter

from onair_encoder.publish.hls.request_progress import RequestProgress

PIECE_BYTES = 64 * 1024


class RequestBody(Payload):
    """Written from its begin again where the connection turned out to be closed, and another one is tried."""

    def __init__(self, data: bytes | bytearray, progress: RequestProgress) -> None:
        super().__init__(data)
        self._size = len(data)
        self._data = data
        self._progress = progress

    async def write(self, writer: AbstractStreamWriter) -> None:
        for at in range(0, len(self._data), PIECE_BYTES):
            self._progress.left(len(self._data) - at)
            await writer.write(self._data[at : at + PIECE_BYTES])
        self._progress.left(0)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._data.decode(encoding, errors)
