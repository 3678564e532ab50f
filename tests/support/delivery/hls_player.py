"""A real browser that plays a bucket's playlist by hls.js."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web
from tests.support.control_plane import free_port
from tests.support.delivery.livekit_server import Viewer, browser_command
from tests.support.delivery.npm_script import npm_script

VERSION = "1.6.16"
SHA256 = "442f599c34f103c3355b375a23bdff560592d7117d09a8c847242ea3de2d40e0"
PAGE = """<!doctype html><meta charset="utf-8"><title>player</title><video muted autoplay></video>
<script src="/hls.js"></script><script>
const video = document.querySelector("video"), faults = [];
const hls = new Hls({liveSyncDurationCount: 2});
hls.on(Hls.Events.ERROR, (_, error) => faults.push({details: error.details, fatal: error.fatal}));
hls.loadSource("/bucket/index.m3u8");
hls.attachMedia(video);
setInterval(() => {
  const quality = video.getVideoPlaybackQuality();
  fetch("/report", {method: "POST", body: JSON.stringify({
    time: video.currentTime, width: video.videoWidth, height: video.videoHeight, ended: video.ended,
    decoded: quality.totalVideoFrames, dropped: quality.droppedVideoFrames,
    audio: video.webkitAudioDecodedByteCount, paused: video.paused, faults,
  })});
}, 200);
</script>"""


@contextlib.asynccontextmanager
async def player(folder: Path) -> AsyncIterator[Viewer]:
    """A browser that plays the playlist in a folder."""
    watching = Viewer()

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    async def hls(_: web.Request) -> web.Response:
        return web.Response(
            text=npm_script("hls.js", VERSION, "hls.min.js", SHA256), content_type="text/javascript"
        )

    async def take(request: web.Request) -> web.Response:
        watching.report = await request.json()
        return web.Response()

    application = web.Application()
    application.add_routes([web.get("/", page), web.get("/hls.js", hls), web.post("/report", take)])
    application.router.add_static("/bucket", folder)
    runner = web.AppRunner(application)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    command, container = await asyncio.to_thread(browser_command, f"http://127.0.0.1:{port}/")
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)
    try:
        await watching.until("reporting", lambda report: "time" in report, 40)
        yield watching
    finally:
        if container:
            removing = await asyncio.create_subprocess_exec("docker", "rm", "-f", container, stdout=quiet)
            await removing.wait()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await runner.cleanup()
