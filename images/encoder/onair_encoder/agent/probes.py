"""/healthz, /readyz and /metrics of the agent, in plain HTTP."""

from __future__ import annotations

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from onair_crds.contract.pod import METRICS_PORT
from onair_encoder.agent.agent import Agent
from onair_encoder.agent.metrics import registry_of


async def start_probes(agent: Agent) -> web.AppRunner:
    registry = registry_of(agent)

    async def ok(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.router.add_get("/healthz", ok)
    app.router.add_get("/readyz", ok)
    app.router.add_get("/metrics", metrics)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, None, METRICS_PORT).start()
    return runner
