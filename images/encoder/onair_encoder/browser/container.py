"""PID 1 of the container `browser`: X server, sound server and Chromium, and a socket to steer them.

It ends when a part of it has, so that the container is restarted.
"""

from __future__ import annotations

import asyncio
import sys

from onair_crds.runtime.stderr_log import log
from onair_encoder.browser.display_servers import sound_server, x_server
from onair_encoder.browser.page_keeper import PageKeeper
from onair_encoder.browser.server_connection import PulseConnection, XConnection
from onair_encoder.browser.server_watch import ServerWatch
from onair_encoder.paths import BROWSER_SOCKET
from onair_encoder.process.orphans import reap_orphans
from onair_encoder.process.wait import terminated


async def run() -> None:
    """Keeps X server, sound server and Chromium running until SIGTERM."""
    stop = terminated()
    BROWSER_SOCKET.unlink(missing_ok=True)
    keeper = PageKeeper()
    display, sound = x_server(), sound_server(on_end=keeper.sound_restarted)
    children = [display, sound]
    for child in children:
        child.start()
    server = await asyncio.start_unix_server(keeper.serve, BROWSER_SOCKET)
    BROWSER_SOCKET.chmod(0o660)
    parts = {
        "page": keeper.run(),
        "cpu": keeper.cpu.run(),
        "orphans": reap_orphans(),
        "display": ServerWatch(display, XConnection).run(),
        "sound": ServerWatch(sound, PulseConnection).run(),
    }
    tasks = [asyncio.create_task(part, name=name) for name, part in parts.items()]
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({*tasks, stopping}, return_when=asyncio.FIRST_COMPLETED)
    failed = [task for task in tasks if task.done()]
    for task in (*tasks, stopping):
        task.cancel()
    await asyncio.gather(*tasks, stopping, return_exceptions=True)
    server.close()
    for child in children:
        await child.stop()
    for task in failed:
        log("browser.part-ended", part=task.get_name(), error=repr(task.exception()))
    if failed:
        sys.exit("a part of the browser's container has ended")
