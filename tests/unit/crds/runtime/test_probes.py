"""The probe server: alive at once, ready when the program is."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Counter
from tests.support.control_plane import free_port

from onair_crds.runtime.probes import ProbeServer

READY: set[str] = set()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    registry = CollectorRegistry()
    Counter("looks_total", "Looks.", registry=registry).inc()
    READY.clear()
    port = free_port()
    server = ProbeServer(lambda: bool(READY), registry, {"/beside": lambda: "beside" in READY})
    await server.start(port)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        yield session
    await server.stop()


async def test_a_program_is_alive_before_it_is_ready(http: aiohttp.ClientSession) -> None:
    assert (await http.get("/healthz")).status == 200
    assert (await http.get("/readyz")).status == 503
    READY.add("listed")
    assert (await http.get("/readyz")).status == 200


async def test_what_runs_beside_it_has_a_probe_of_its_own(http: aiohttp.ClientSession) -> None:
    READY.add("listed")
    assert (await http.get("/beside")).status == 503
    READY.add("beside")
    assert (await http.get("/beside")).status == 200


async def test_metrics_are_those_of_the_registry(http: aiohttp.ClientSession) -> None:
    response = await http.get("/metrics")
    assert "looks_total 1.0" in (await response.text()).splitlines()
