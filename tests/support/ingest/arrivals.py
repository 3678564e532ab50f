"""Notes when each picture of a publisher reaches the media server: a TCP proxy that reads along."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Self

from tests.support.docker import host_address

from onair_crds.rtmp.chunks import ChunkReader

_HANDSHAKE = 1 + 2 * 1536
_AUDIO, _VIDEO = 8, 9


class Arrivals:
    """Use as a context manager; publish to `port` of this machine. One publisher at a time."""

    def __init__(self, host: str, port: int = 1935) -> None:
        self._target = host, port
        self.at_ms: dict[int, float] = {}
        """Wall clock in milliseconds when a picture's last byte came, by its time since the first picture."""
        self.first_media_ms: float | None = None
        """Likewise of the first message of audio or video."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(5)
        self.host, self.port = self._server.sockets[0].getsockname()[:2]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, host_address(), 0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(*self._target)
        back = asyncio.create_task(_copy(server_reader, writer))
        try:
            chunks, first_ms, handshake = ChunkReader(8 * 2**20), None, _HANDSHAKE
            while data := await reader.read(65536):
                now_ms = time.time() * 1000
                server_writer.write(data)
                media, handshake = data[handshake:], max(0, handshake - len(data))
                for message in chunks.feed(media):
                    if message.type in (_AUDIO, _VIDEO):
                        self.first_media_ms = self.first_media_ms or now_ms
                    if message.type == _VIDEO and message.body[1:2] == b"\1":
                        pts_ms = message.timestamp_ms + int.from_bytes(message.body[2:5], "big", signed=True)
                        first_ms = pts_ms if first_ms is None else first_ms
                        self.at_ms[pts_ms - first_ms] = now_ms
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            back.cancel()
            for each in (writer, server_writer):
                each.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()
