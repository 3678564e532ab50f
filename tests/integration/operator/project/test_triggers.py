"""Sources start and stop a show on a real API server, by resources alone, over changes of the leader."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from tests.support.gateway_server import GatewayServer, stream_state
from tests.support.ingest_operator import camera, operated, status_with
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.shapes import Document
from onair_operator.settings import TriggerSettings

PATIENCE = TriggerSettings(stop_patience_s=2.0)
BOTH = {"sourceId": "camera", "trigger": {"start": "Or", "stop": "Or"}}


@pytest.fixture
async def server() -> AsyncIterator[GatewayServer]:
    async with GatewayServer().running() as server:
        yield server


async def show(cluster: OperatedNamespace) -> str:
    """A camera and a show that it starts and stops; gives the camera's stream."""
    await cluster.collection()
    stream = await camera(cluster)
    await cluster.project("Stopped", sources=[BOTH])
    await triggers_are(cluster, "Disconnected")
    return stream


async def triggers_are(cluster: OperatedNamespace, connect: str) -> Document:
    async def check() -> Document | None:
        status = ((await cluster.get("Project", "show")) or {}).get("status", {})
        counted = [{"sourceId": "camera", "connect": connect}]
        return status if status.get("triggers") == counted else None

    return await until(check, f"{connect} counts")


async def broadcast(cluster: OperatedNamespace) -> Document:
    status = ((await cluster.get("Project", "show")) or {}).get("status", {})
    return status.get("broadcast") or {}


async def ended(cluster: OperatedNamespace) -> Document:
    async def check() -> Document | None:
        run = await broadcast(cluster)
        return run if run.get("phase") in ("Stopping", "Stopped") else None

    return await until(check, "the end of the broadcast")


async def test_a_camera_starts_a_show_and_its_end_stops_it(
    cluster: OperatedNamespace, server: GatewayServer
) -> None:
    async with operated(cluster, server.settings, triggers=PATIENCE):
        stream = await show(cluster)
        began = time.monotonic()
        server.tell(stream_state(stream))
        await cluster.phase("Waiting")
        assert 0.9 < time.monotonic() - began < 2.0
        run = await broadcast(cluster)
        assert run["startedBy"] == "camera"
        began = time.monotonic()
        server.tell(stream_state(stream, online=False, flowing=False))
        assert (await ended(cluster))["stoppedBy"] == "camera"
        assert -0.1 < time.monotonic() - began - PATIENCE.stop_patience_s < 1.0
        spec = ((await cluster.get("Project", "show")) or {})["spec"]
        assert spec["broadcast"] == {"state": "Stopped"}, "the operator writes no spec"


async def test_a_reconnect_does_not_end_a_show_and_a_stop_by_hand_holds(
    cluster: OperatedNamespace, server: GatewayServer
) -> None:
    async with operated(cluster, server.settings, triggers=PATIENCE):
        stream = await show(cluster)
        server.tell(stream_state(stream))
        run = (await cluster.phase("Waiting"))["broadcast"]["id"]
        server.tell(stream_state(stream, online=False, flowing=False))
        await status_with(cluster, connect="Disconnected")
        server.tell(stream_state(stream))
        since = (await status_with(cluster, connect="Connected"))["since"]
        await asyncio.wait_for(_pass(PATIENCE.stop_patience_s + 0.5), 10)
        assert (await broadcast(cluster))["phase"] == "Waiting"
        await cluster.patch("Project", "show", {"broadcast": {"stopped": run}})
        assert (await ended(cluster))["id"] == run
        await asyncio.wait_for(_pass(2.0), 10)
        assert (await broadcast(cluster))["id"] == run, f"connected since {since} is no edge"


async def _pass(seconds: float) -> None:
    """Lets the time pass in which nothing may happen."""
    loop = asyncio.get_running_loop()
    passed = loop.create_future()
    loop.call_later(seconds, passed.set_result, None)
    await passed


async def test_another_leader_in_the_middle_of_an_edge_neither_misses_nor_repeats_it(
    cluster: OperatedNamespace, server: GatewayServer
) -> None:
    async with operated(cluster, server.settings, triggers=PATIENCE):
        stream = await show(cluster)
        server.tell(stream_state(stream))
        await status_with(cluster, connect="Connected")
        assert not await broadcast(cluster), "it has not lasted yet"
    async with operated(cluster, server.settings, triggers=PATIENCE):
        first = (await cluster.phase("Waiting"))["broadcast"]["id"]
    async with operated(cluster, server.settings, triggers=PATIENCE):
        await triggers_are(cluster, "Connected")
        await asyncio.wait_for(_pass(1.5), 10)
        assert (await broadcast(cluster))["id"] == first
    server.tell(stream_state(stream, online=False, flowing=False))
    async with operated(cluster, server.settings, triggers=PATIENCE):
        stopped = await ended(cluster)
        assert (stopped["id"], stopped["stoppedBy"]) == (first, "camera")


async def test_two_operators_act_once_on_an_edge(cluster: OperatedNamespace, server: GatewayServer) -> None:
    async with (
        operated(cluster, server.settings, triggers=PATIENCE),
        operated(cluster, server.settings, triggers=PATIENCE),
    ):
        stream = await show(cluster)
        server.tell(stream_state(stream))
        run = (await cluster.phase("Waiting"))["broadcast"]["id"]
        await asyncio.wait_for(_pass(1.5), 10)
        assert (await broadcast(cluster))["id"] == run
        assert (await cluster.events()).count("BroadcastRequested") == 1
