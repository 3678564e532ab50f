"""PID 1 of the container `browser`: X server, sound server and Chromium, and a socket to steer them."""

from __future__ import annotations

import asyncio

from onair_encoder.browser.display_servers import sound_server, x_server
from onair_encoder.browser.page_keeper import PageKeeper
from onair_encoder.paths import BROWSER_SOCKET
from onair_encoder.process.orphans import reap_orphans
from onair_encoder.process.wait import terminated


async def run() -> None:
    stop = terminated()
    BROWSER_SOCKET.unlink(missing_ok=True)
    keeper = PageKeeper()
    children = [x_server(), sound_server(on_end=keeper.sound_restarted)]
    for child in children:
        child.start()
    server = await asyncio.start_unix_server(keeper.serve, BROWSER_SOCKET)
    BROWSER_SOCKET.chmod(0o660)
    tasks = [asyncio.create_task(each) for each in (keeper.run(), keeper.cpu.run(), reap_orphans())]
    await stop.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    server.close()
    for child in children:
        await child.stop()
