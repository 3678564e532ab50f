"""Listens for HTTP within bounds: who sends no request, or one without end, costs others nothing."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

HEAD_TIMEOUT_S = 20.0
"""Of a request's head with the pause before it: longer than clients keep connections that they do not use."""
MAX_WAITING = 256
"""Connections without a request; of more the one that has waited for longest is closed."""
LINGERING_S = 1.0
"""How long what is left of a body is read after the response."""


_Waiting = OrderedDict[web.RequestHandler, None]
"""Connections whose next request has not come, the one that waits for longest first."""


async def listen(
    app: web.Application,
    host: str | None,
    port: int,
    *,
    shutdown_timeout_s: float = 0.5,
    head_timeout_s: float = HEAD_TIMEOUT_S,
    max_waiting: int = MAX_WAITING,
) -> web.AppRunner:
    """Serves an application until the runner's `cleanup`; without a host on all addresses."""
    waiting = _Waiting()
    app.middlewares.insert(0, _begun(waiting))
    runner = web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=shutdown_timeout_s,
        keepalive_timeout=head_timeout_s,
        lingering_time=LINGERING_S,
    )
    await runner.setup()
    await _BoundedSite(runner, host, port, waiting, max_waiting).start()
    return runner


def _begun(waiting: _Waiting) -> Middleware:
    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        connection = request.protocol
        waiting.pop(connection, None)
        try:
            return await handler(request)
        finally:
            waiting[connection] = None

    return middleware


class _BoundedSite(web.BaseSite):
    def __init__(
        self, runner: web.AppRunner, host: str | None, port: int, waiting: _Waiting, max_waiting: int
    ) -> None:
        super().__init__(runner)
        self._host, self._port = host, port
        self._waiting, self._max_waiting = waiting, max_waiting

    @property
    def name(self) -> str:
        return f"http://{self._host or '*'}:{self._port}"

    async def start(self) -> None:
        await super().start()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, self._host, self._port)

    def _connection(self) -> web.RequestHandler:
        server = self._runner.server
        if server is None:
            raise RuntimeError("not set up")
        connection = server()
        self._waiting[connection] = None
        while len(self._waiting) > self._max_waiting:
            longest, _ = self._waiting.popitem(last=False)
            longest.force_close()  # nothing, if it is closed already
        return connection
