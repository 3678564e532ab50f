"""An HTTP server that serves only probes and /metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest

from onair_crds.runtime.http_listener import listen


class ProbeServer:
    """/healthz responds while the event loop turns, /readyz with 503 until the program is ready.

    Args:
        others: what else responds with 200 or 503, by its path.
    """

    def __init__(
        self,
        ready: Callable[[], bool] = lambda: True,
        registry: CollectorRegistry = REGISTRY,
        others: Mapping[str, Callable[[], bool]] | None = None,
    ) -> None:
        self._checks = {"/readyz": ready, **(others or {})}
        self._registry = registry
        self._runner: web.AppRunner | None = None

    async def start(self, port: int) -> None:
        """Listens on all addresses of the pod."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        for path in self._checks:
            app.router.add_get(path, self._check)
        app.router.add_get("/metrics", self._metrics)
        self._runner = await listen(app, None, port)

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _check(self, request: web.Request) -> web.Response:
        passes = self._checks[request.path]()
        return web.Response(text="ok\n" if passes else "not ready\n", status=200 if passes else 503)

    async def _metrics(self, _: web.Request) -> web.Response:
        body = generate_latest(self._registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
