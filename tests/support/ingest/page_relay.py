"""Runs on the loopback of a pod's browser: serves pages, and streams in the ways that are compared.

Arguments: the media server's address, and the folders of the pages and of what pages load from the agent.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from aiohttp import web

from onair_ingest.readers.readers import Readers
from onair_ingest.readers.routes import send_all
from onair_ingest.readers.rtmp_player import MediaServer

PORT = 8450
MOVIE = [
    *("-c", "copy", "-f", "mp4", "-movflags", "empty_moov+default_base_moof", "-frag_duration", "20000"),
    *("-flush_packets", "1", "pipe:1"),
]


class Relay:
    def __init__(self, media_server: str) -> None:
        self.address = f"rtmp://{media_server}:1935/live"
        self.readers = Readers(lambda stream: f"live/{stream}", MediaServer(media_server, 1935), linger_s=5)
        self.reported: object = None

    async def access_units(self, request: web.Request) -> web.StreamResponse:
        async with self.readers.subscription(request.match_info["source"]) as subscription:
            socket = web.WebSocketResponse(compress=False)
            await socket.prepare(request)
            await send_all(socket, subscription)
            return socket

    async def movie(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        ffmpeg = await asyncio.create_subprocess_exec(
            *("ffmpeg", "-loglevel", "error", "-fflags", "nobuffer", "-flags", "low_delay"),
            *("-probesize", "2000000", "-analyzeduration", "3000000"),
            *("-i", f"{self.address}/{request.match_info['source']}", *MOVIE),
            stdout=asyncio.subprocess.PIPE,
        )
        assert ffmpeg.stdout
        try:
            while data := await ffmpeg.stdout.read(65536):
                await socket.send_bytes(data)
        finally:
            ffmpeg.kill()
        return socket

    async def report(self, request: web.Request) -> web.Response:
        self.reported = json.loads(await request.text())
        return web.Response(status=204)

    async def reported_json(self, _: web.Request) -> web.Response:
        return web.json_response(self.reported)


def main(media_server: str, pages: str, scripts: str) -> None:
    relay = Relay(media_server)
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_get("/sources/{source:[^.]+}", relay.access_units)
    app.router.add_get("/mse/{source}", relay.movie)
    app.router.add_post("/report", relay.report)
    app.router.add_get("/report", relay.reported_json)
    app.router.add_static("/sources", Path(scripts))
    app.router.add_static("/pages", Path(pages))
    web.run_app(app, host="0.0.0.0", port=PORT, print=None)


if __name__ == "__main__":
    main(*sys.argv[1:])
