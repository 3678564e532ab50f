"""Runs on the loopback of a pod's browser: serves pages, and streams in the ways that are compared.

A gateway's readers, and the agent's relay. Arguments: the media server's address, the pages' folder.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from aiohttp import web
from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import reader_token
from onair_crds.contract.program import ProgramSource
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_encoder.loopback import serve as serve_to_pages
from onair_encoder.sources.source_relay import SourceRelay
from onair_ingest.mediamtx.rtmp_player import MediaServer
from onair_ingest.readers.readers import Readers
from onair_ingest.readers.routes import ReaderRoutes

PORT, SOURCES_PORT = 8460, 8461
"""The agent itself is at its own port."""
SOURCES = ("one", "two", "three", "four")
SECRET = b"of these tests"
MOVIE = [
    *("-c", "copy", "-f", "mp4", "-movflags", "empty_moov+default_base_moof", "-frag_duration", "20000"),
    *("-flush_packets", "1", "pipe:1"),
]


class PageRelay:
    def __init__(self, media_server: str) -> None:
        self.address = f"rtmp://{media_server}:1935/live"
        self.readers = Readers(
            lambda stream: f"live/{stream}",
            lambda _: None,
            lambda _: None,
            MediaServer(media_server, 1935),
            linger_s=5,
        )
        self.reported: object = None

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


async def serve(media_server: str, pages: str) -> None:
    relay = PageRelay(media_server)
    app = web.Application(client_max_size=64 * 2**20)
    ReaderRoutes(relay.readers, RotatedSecret(SECRET)).add_to(app)
    app.router.add_get("/mse/{source}", relay.movie)
    app.router.add_post("/report", relay.report)
    app.router.add_get("/report", relay.reported_json)
    app.router.add_static("/pages", Path(pages))
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "0.0.0.0", PORT).start()
    sources = SourceRelay()
    gateway = f"http://127.0.0.1:{PORT}"
    sources.want(
        [
            ProgramSource(id=name, gateway=gateway, stream=name, token=SecretStr(reader_token(SECRET, name)))
            for name in SOURCES
        ]
    )
    await serve_to_pages("127.0.0.1", SOURCES_PORT, sources.add_to)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
