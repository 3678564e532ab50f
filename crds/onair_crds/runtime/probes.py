"""An HTTP server for /healthz, /readyz and /metrics alone."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest


class ProbeServer:
    """/healthz responds while the event loop turns, /readyz with 503 until the program is ready."""

    def __init__(
        self, ready: Callable[[], bool] = lambda: True, registry: CollectorRegistry = REGISTRY
    ) -> None:
        self._ready = ready
        self._registry = registry
        self._runner: web.AppRunner | None = None

    async def start(self, port: int) -> None:
        """Listens on all addresses of the pod."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, None, port).start()

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        ready = self._ready()
        return web.Response(text="ok\n" if ready else "not ready\n", status=200 if ready else 503)

    async def _metrics(self, _: web.Request) -> web.Response:
        body = generate_latest(self._registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
