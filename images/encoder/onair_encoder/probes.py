"""/healthz, /readyz and /metrics of the agent, in plain HTTP."""

from __future__ import annotations

from collections.abc import Iterator

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from onair_crds.enums import ConnectState
from onair_crds.program import METRICS_PORT
from onair_encoder.agent import Agent


class AgentMetrics(Collector):
    """Reads the agent when it is asked, so that counting costs nothing while media flows."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def collect(self) -> Iterator[Metric]:
        status = self._agent.status()
        yield CounterMetricFamily("onair_encoder_frames", "Encoded frames.", value=status.frames)
        yield CounterMetricFamily(
            "onair_encoder_program_bytes", "Encoded bytes of media.", value=self._agent.fan_out.bytes
        )
        yield CounterMetricFamily(
            "onair_encoder_streams", "Times that ffmpeg has connected.", value=self._agent.input.streams
        )
        yield GaugeMetricFamily(
            "onair_encoder_bitrate_bps", "Bits per second of media.", value=status.bitrate_bps
        )
        connected = GaugeMetricFamily(
            "onair_destination_connected", "1 while media flows to a destination.", labels=["destination"]
        )
        attempts = CounterMetricFamily(
            "onair_destination_attempts", "Connection attempts.", labels=["destination"]
        )
        sent = CounterMetricFamily(
            "onair_destination_sent_bytes", "Bytes of ended connections.", labels=["destination"]
        )
        for state in status.destinations:
            connected.add_metric([state.id], float(state.connect is ConnectState.CONNECTED))
            attempts.add_metric([state.id], state.attempts)
            sent.add_metric([state.id], state.bytes_sent)
        yield from (connected, attempts, sent)


async def start_probes(agent: Agent) -> web.AppRunner:
    registry = CollectorRegistry()
    registry.register(AgentMetrics(agent))

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
