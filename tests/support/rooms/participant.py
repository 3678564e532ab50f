"""A participant of a room: a real browser with LiveKit's own client, a fake camera and a fake microphone."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web
from tests.support.control_plane import free_port
from tests.support.delivery.livekit_server import CLIENT, CLIENT_SHA256, Viewer, browser_command
from tests.support.delivery.npm_script import npm_script

PAGE = Path(__file__).with_name("participant.html")
FAKE_DEVICES = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


@contextlib.asynccontextmanager
async def participant(
    url: str, token: str, *, publish: bool = True, insist: bool = False
) -> AsyncIterator[Viewer]:
    """A browser that joins, for as long as the context lasts; its reports say what came of it.

    Args:
        insist: tries again until it is let in.
    """
    joined = Viewer()
    settings = json.dumps({"url": url, "token": token, "publish": publish, "insist": insist})
    client = await asyncio.to_thread(
        npm_script, "livekit-client", CLIENT, "livekit-client.umd.js", CLIENT_SHA256
    )

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=PAGE.read_text(), content_type="text/html")

    async def script(_: web.Request) -> web.Response:
        return web.Response(text=f"{client}\nconst SETTINGS = {settings};", content_type="text/javascript")

    async def take(request: web.Request) -> web.Response:
        joined.report = await request.json()
        return web.Response()

    application = web.Application(client_max_size=2**20)
    application.add_routes([web.get("/", page), web.get("/client.js", script), web.post("/report", take)])
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    command, container = await asyncio.to_thread(browser_command, f"http://127.0.0.1:{port}/", *FAKE_DEVICES)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await joined.until("loaded", lambda report: report["state"], 40)
        yield joined
    finally:
        if container:
            removing = await asyncio.create_subprocess_exec(
                "docker", "rm", "-f", container, stdout=asyncio.subprocess.DEVNULL
            )
            await removing.wait()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await runner.cleanup()
