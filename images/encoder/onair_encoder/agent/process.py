"""The agent as a process, with its control API and its probes; SIGTERM ends it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from onair_crds.contract.pod import ENGINE_PORT, METRICS_PORT, SOURCES_PORT
from onair_crds.runtime.probes import ProbeServer
from onair_encoder.agent.agent import Agent
from onair_encoder.agent.control_api import ControlApi
from onair_encoder.agent.engine_socket import EngineSocket
from onair_encoder.agent.metrics import registry_of
from onair_encoder.loopback import serve
from onair_encoder.paths import IDENTITY, PROGRAM_FILE, pod_name
from onair_encoder.process.wait import terminated

LOOPBACK = "127.0.0.1"
BLOCKING_THREADS = 64
"""For what blocks, such as the disk of a spool. Threads are made as they are needed; the loop looks names up
in threads of its own."""


async def run() -> None:
    """Runs the agent with its servers until SIGTERM."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(BLOCKING_THREADS, "blocking"))
    stop = terminated()
    agent = Agent(PROGRAM_FILE)
    work = asyncio.create_task(agent.run())
    of_pages = agent.sources.add_to, agent.page.scene.add_to, agent.page.facade_door.add_to
    page = await serve(LOOPBACK, SOURCES_PORT, *of_pages)
    engine = await serve(LOOPBACK, ENGINE_PORT, EngineSocket(agent).add_to)
    control = await ControlApi(agent, IDENTITY, pod_name()).start()
    probes = ProbeServer(registry=registry_of(agent))
    await probes.start(METRICS_PORT)
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if stopping.done():
        await agent.leave()
    work.cancel()
    results = await asyncio.gather(work, return_exceptions=True)
    await page.cleanup()
    await engine.cleanup()
    await control.cleanup()
    await probes.stop()
    for result in results:
        if isinstance(result, Exception):
            raise result
