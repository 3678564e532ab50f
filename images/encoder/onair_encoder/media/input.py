"""The socket of the media input: FLV from whichever ffmpeg connected last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from onair_crds.media.flv import FlvError, FlvReader, Packet
from onair_crds.runtime.stderr_log import log
from onair_encoder.media.slate_switch import Switch
from onair_encoder.paths import MEDIA_SOCKET


class MediaInput:
    """Takes the programme of whichever ffmpeg connected last."""

    def __init__(self, switch: Switch) -> None:
        self.streams = 0
        self._switch = switch
        self._current: _FfmpegConnection | None = None

    async def listen(self) -> asyncio.Server:
        MEDIA_SOCKET.unlink(missing_ok=True)
        loop = asyncio.get_running_loop()
        return await loop.create_unix_server(self._stream, MEDIA_SOCKET)

    def _stream(self) -> _FfmpegConnection:
        if self._current:
            self._current.close()
        self.streams += 1
        log("stream.begins", number=self.streams)
        self._switch.live_begins()
        self._current = _FfmpegConnection(self._switch.live)
        return self._current


class _FfmpegConnection(asyncio.Protocol):
    """One connection of ffmpeg's. Packets are passed on in the call that brings them: no task is woken."""

    def __init__(self, put: Callable[[Packet], None]) -> None:
        self._put = put
        self._flv = FlvReader()
        self._transport: asyncio.BaseTransport | None = None
        self._closed = False

    def close(self) -> None:
        """Takes no more packets."""
        self._closed = True
        if self._transport:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        if self._closed:
            transport.close()

    def data_received(self, data: bytes) -> None:
        try:
            for packet in self._flv.feed(data):
                if self._closed:
                    return
                self._put(packet)
        except FlvError as error:
            log("stream.broken", error=str(error))
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc:
            log("stream.broken", error=str(exc))
        log("stream.ends")
