"""What the agent serves to the page, only on the pod's loopback."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
FROM_ANYWHERE = {"Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache"}
"""Pages are from wherever the project says; they load scripts across origins."""


async def serve(host: str, port: int, *parts: Callable[[web.Application], None]) -> web.AppRunner:
    """Serves the routes that each part adds."""
    app = web.Application(middlewares=[_loopback_alone])
    for add_to in parts:
        add_to(app)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner


@web.middleware
async def _loopback_alone(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses names: a page could have one of its own point here, and would then be of our origin."""
    name = request.host.rsplit(":", 1)[0].strip("[]")
    try:
        ours = name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        ours = False
    if not ours:
        raise web.HTTPMisdirectedRequest(text="this host is not served")
    return await handler(request)
