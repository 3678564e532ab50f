"""What readers are served over HTTP: each request carries the token of its stream."""

from __future__ import annotations

from socket import SO_SNDBUF, SOL_SOCKET

from aiohttp import web

from onair_crds.contract.access_units import (
    ACCESS_UNITS_SUFFIX,
    CLOSE_REFUSED,
    CLOSE_UNSUPPORTED,
    STILL_SUFFIX,
)
from onair_crds.contract.ingest_gateway import STREAMS_PATH
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_crds.runtime.until_one_ends import until_one_ends
from onair_ingest.readers.access import authorized_stream, until_refused
from onair_ingest.readers.metrics import DROPPED
from onair_ingest.readers.readers import NoStream, Readers, Undecodable
from onair_ingest.readers.still import NoStill, Stills
from onair_ingest.readers.stream_feed import FeedEnded, ReaderQueue

HEARTBEAT_S = 5.0
"""A reader that does not respond to pings for so long is gone."""

SEND_BUFFER_BYTES = 512 * 1024
"""What is in the kernel cannot be dropped any more when a reader is slow."""
MAX_READERS = 64
"""Of one stream: each takes as much of the gateway's one thread as any other. A show has one or two."""


class ReaderRoutes:
    def __init__(self, readers: Readers, secret: RotatedSecret) -> None:
        self._readers, self._secret = readers, secret
        self._stills = Stills(readers)

    def add_to(self, app: web.Application) -> None:
        app.router.add_get(f"{STREAMS_PATH}/{{stream}}{STILL_SUFFIX}", self._still)
        app.router.add_get(f"{STREAMS_PATH}/{{stream}}{ACCESS_UNITS_SUFFIX}", self._access_units)

    async def _access_units(self, request: web.Request) -> web.StreamResponse:
        stream = authorized_stream(request, self._secret)
        if self._readers.played.get(stream, 0) >= MAX_READERS:
            raise web.HTTPTooManyRequests(text="this stream has too many readers")
        try:
            async with self._readers.subscription(stream) as subscription:
                if request.transport:
                    connection = request.transport.get_extra_info("socket")
                    connection.setsockopt(SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_BYTES)
                socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, compress=False)
                await socket.prepare(request)
                try:
                    await until_one_ends(send_all(socket, subscription), until_refused(request, self._secret))
                    await socket.close(code=CLOSE_REFUSED, message=b"the secret was replaced")
                finally:
                    DROPPED.inc(subscription.dropped)
                return socket
        except Undecodable as error:
            socket = web.WebSocketResponse(compress=False)
            await socket.prepare(request)
            await socket.close(code=CLOSE_UNSUPPORTED, message=str(error).encode())
            return socket
        except NoStream:
            raise web.HTTPNotFound(text="no such stream is published here") from None

    async def _still(self, request: web.Request) -> web.Response:
        stream = authorized_stream(request, self._secret)
        try:
            jpeg = await self._stills.jpeg(stream)
        except Undecodable as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from None
        except NoStream:
            raise web.HTTPNotFound(text="no such stream is published here") from None
        except NoStill as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from None
        return web.Response(body=jpeg, content_type="image/jpeg", headers={"Cache-Control": "no-store"})


async def send_all(socket: web.WebSocketResponse, subscription: ReaderQueue) -> None:
    """Sends until the stream ends or the reader is gone: what it says is ignored, but its end is noticed."""
    await until_one_ends(_send(socket, subscription), _until_closed(socket))


async def _send(socket: web.WebSocketResponse, subscription: ReaderQueue) -> None:
    try:
        while True:
            await socket.send_bytes(await subscription.next())
    except FeedEnded as ended:
        await socket.close(code=ended.code, message=str(ended).encode())


async def _until_closed(socket: web.WebSocketResponse) -> None:
    async for _ in socket:
        pass
