"""Playlists and segments for the facade, which passes them on to players."""

from __future__ import annotations

from aiohttp import web

from onair_crds.contract.ingest_gateway import STREAMS_PATH
from onair_crds.contract.previews import (
    FIRST_SEGMENT_S,
    HLS_PLAYLIST,
    HLS_SUFFIX,
    PLAYLIST_TYPE,
    SEGMENT_TYPE,
)
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_ingest.hls.windows import TooManyWindows, Windows
from onair_ingest.readers.access import authorized_stream
from onair_ingest.readers.readers import NoStream, Undecodable

RETRY = {"Retry-After": "2"}
PART_BYTES = 64 * 1024


class HlsRoutes:
    def __init__(self, windows: Windows, secret: RotatedSecret) -> None:
        self._windows, self._secret = windows, secret

    def add_to(self, app: web.Application) -> None:
        path = f"{STREAMS_PATH}/{{stream}}{HLS_SUFFIX}"
        app.router.add_get(f"{path}/{HLS_PLAYLIST}", self._playlist)
        app.router.add_get(f"{path}/{{segment}}", self._segment)

    async def _playlist(self, request: web.Request) -> web.Response:
        stream = authorized_stream(request, self._secret)
        try:
            window = self._windows.play(stream)
        except Undecodable as error:
            raise web.HTTPUnsupportedMediaType(text=str(error)) from None
        except NoStream:
            raise web.HTTPNotFound(text="no such stream is published here") from None
        except TooManyWindows:
            raise web.HTTPServiceUnavailable(text="too many streams are played", headers=RETRY) from None
        if not await window.wait_ready(FIRST_SEGMENT_S):
            raise web.HTTPServiceUnavailable(text="there is no segment yet", headers=RETRY)
        return web.Response(text=window.playlist(), content_type=PLAYLIST_TYPE)

    async def _segment(self, request: web.Request) -> web.StreamResponse:
        window = self._windows.get(authorized_stream(request, self._secret))
        data = window.segment(request.match_info["segment"]) if window else None
        if data is None:
            raise web.HTTPNotFound(text="there is no such segment any more")
        response = web.StreamResponse(headers={"Content-Type": SEGMENT_TYPE})
        response.content_length = len(data)
        await response.prepare(request)
        # In parts: what waits for a slow reader is not copied whole
        whole = memoryview(data)
        try:
            for at in range(0, len(data), PART_BYTES):
                await response.write(whole[at : at + PART_BYTES])
        except ConnectionError:
            pass
        return response
