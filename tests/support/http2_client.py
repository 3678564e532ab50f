"""A client of HTTP/2 that opens its windows as it is told, and not as it reads."""

from __future__ import annotations

import asyncio
import socket
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, PingAckReceived, StreamEnded, StreamReset
from h2.settings import SettingCodes, Settings
from starlette.types import ASGIApp
from tests.support.waiting import TIMEOUT_S, until

from onair_api.connection.idle_connections import IdleConnections
from onair_api.rpc.native import NativeServer
from onair_api.settings import ListenSettings

EVENT_STREAM = "/apis.event.v2.EventService/Stream"
WINDOW_BYTES = 65_535
"""Of a connection, as HTTP/2 begins."""
FRAME_BYTES = 16_384
"""Of the largest frame."""
MAX_WINDOW_BYTES = 2**31 - 1


@asynccontextmanager
async def serving(app: ASGIApp, idle_connections: int = 4096) -> AsyncIterator[NativeServer]:
    """Serves an application at a port of native gRPC."""
    bound = socket.create_server(("127.0.0.1", 0))
    listen = ListenSettings(shutdown_grace_s=0.1)
    server = NativeServer(app, [bound], listen, IdleConnections(idle_connections), lambda: None)
    try:
        yield server
    finally:
        async with asyncio.timeout(TIMEOUT_S):
            await server.stop()


def connections() -> int:
    """How many the server has."""
    return sum("Http2Connection.run" in repr(each.get_coro()) for each in asyncio.all_tasks())


class Http2Client:
    """One connection: use it as a context manager."""

    def __init__(self, server: NativeServer, stream_window_bytes: int = WINDOW_BYTES) -> None:
        """
        Args:
            stream_window_bytes: what each stream may be sent before its client opens the stream's window.
        """
        self._port = server.port
        self._stream_window_bytes = stream_window_bytes
        self._protocol = H2Connection()
        self._pings = 0
        self.received: defaultdict[int, bytearray] = defaultdict(bytearray)
        """By stream."""
        self.completed: set[int] = set()
        """Streams whose response is complete."""
        self.resets: dict[int, ErrorCodes | int] = {}
        """What the streams were cut for."""
        self.is_closed = False
        """The server has ended the connection."""

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        initial = {SettingCodes.INITIAL_WINDOW_SIZE: self._stream_window_bytes}
        self._protocol.local_settings = Settings(client=True, initial_values=initial)
        self._protocol.initiate_connection()
        await self.flush()
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        self._writer.transport.abort()

    async def ask(
        self, path: str = EVENT_STREAM, body: bytes | None = None, token: str = "", **more: str
    ) -> int:
        """Begins a request; gives the id of its stream.

        Args:
            body: the whole of it; None if `say` sends it.
            more: headers.
        """
        head = {":method": "POST", ":scheme": "http", ":authority": "onair", ":path": path}
        headers = {"content-type": "application/grpc", "te": "trailers", "authorization": f"Bearer {token}"}
        given = {name.replace("_", "-"): value for name, value in more.items()}
        stream_id = await self.begin(head | headers | given)
        if body is not None:
            self._protocol.send_data(stream_id, body, end_stream=True)
        await self.flush()
        return stream_id

    async def begin(self, headers: dict[str, str]) -> int:
        stream_id = self._protocol.get_next_available_stream_id()
        self._protocol.send_headers(stream_id, [*headers.items()])
        await self.flush()
        return stream_id

    async def say(self, stream_id: int, *frames: bytes) -> None:
        """Sends parts of a request, at once if the server has room."""
        for each in frames:
            while self._protocol.local_flow_control_window(stream_id) < len(each):
                await self.roundtrip()
            self._protocol.send_data(stream_id, each)
        await self.flush()

    async def reset(self, stream_id: int) -> None:
        self._protocol.reset_stream(stream_id, ErrorCodes.CANCEL)
        await self.flush()

    async def open_window(self, more_bytes: int, stream_id: int | None = None) -> None:
        """Of a stream, or of the connection."""
        self._protocol.increment_flow_control_window(more_bytes, stream_id)
        await self.flush()

    async def roundtrip(self) -> None:
        """Returns once the server has read all that was said."""
        awaited = self._pings + 1
        self._protocol.ping(bytes(8))
        await self.flush()
        await until(lambda: self._pings >= awaited, "the server responds to a ping", poll_s=0)

    def stop_reading(self) -> None:
        """From here on the server's system has nobody who takes what it sends."""
        self._reading.cancel()
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    async def flush(self) -> None:
        self._writer.write(self._protocol.data_to_send())
        await self._writer.drain()

    async def _read(self) -> None:
        while data := await self._reader.read(65_536):
            for event in self._protocol.receive_data(data):
                if isinstance(event, DataReceived):
                    self.received[event.stream_id] += event.data
                elif isinstance(event, StreamEnded):
                    self.completed.add(event.stream_id)
                elif isinstance(event, StreamReset) and event.remote_reset:
                    self.resets[event.stream_id] = event.error_code
                elif isinstance(event, PingAckReceived):
                    self._pings += 1
            await self.flush()
        self.is_closed = True
