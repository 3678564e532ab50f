"""An HTTP server of a test, on a port of the loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def on_loopback(
    app: web.Application, port: int = 0, shutdown_timeout_s: float = 0.1
) -> AsyncIterator[str]:
    """Serves an application for as long as the context lasts; its address, as in `http://127.0.0.1:1234`.

    Args:
        port: 0 for a free one.
        shutdown_timeout_s: how long requests under way are waited for at the end.
    """
    runner = web.AppRunner(app, shutdown_timeout=shutdown_timeout_s)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
