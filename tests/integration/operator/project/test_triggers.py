"""Sources start and stop a show on a real API server, by resources alone, over changes of the leader."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial

import pytest
from tests.support.gateway_server import GatewayServer, stream_state
from tests.support.ingest_operator import camera, operated, status_with
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import WITHIN_S, until

from onair_crds.contract.times import parse_time
from onair_crds.shapes import Document
from onair_operator.project import broadcast_state_machine
from onair_operator.settings import RunQuota, RunQuotas, TriggerSettings

PATIENCE = TriggerSettings(stop_patience_s=2.0)
MORE_PATIENCE = TriggerSettings(start_patience_s=3.0, stop_patience_s=2.0)
BOTH = {"sourceId": "camera", "trigger": {"start": "Or", "stop": "Or"}}


@pytest.fixture
async def server() -> AsyncIterator[GatewayServer]:
    async with GatewayServer().running() as server:
        yield server


async def show(operated_namespace: OperatedNamespace) -> str:
    """A camera and a show that it starts and stops; gives the camera's stream."""
    await operated_namespace.collection()
    stream = await camera(operated_namespace)
    await operated_namespace.project("Stopped", sources=[BOTH])
    await triggers_are(operated_namespace, "Disconnected")
    return stream


async def triggers_are(operated_namespace: OperatedNamespace, connect: str) -> Document:
    async def check() -> Document | None:
        status = ((await operated_namespace.get("Project", "show")) or {}).get("status", {})
        counted = [{"sourceId": "camera", "connect": connect}]
        return status if status.get("triggers") == counted else None

    return await until(check, f"{connect} counts")


async def broadcast(operated_namespace: OperatedNamespace) -> Document:
    status = ((await operated_namespace.get("Project", "show")) or {}).get("status", {})
    return status.get("broadcast") or {}


async def ended(operated_namespace: OperatedNamespace) -> Document:
    async def check() -> Document | None:
        run = await broadcast(operated_namespace)
        return run if run.get("phase") in ("Stopping", "Stopped") else None

    return await until(check, "the end of the broadcast")


def seconds_between(earlier: str, later: str) -> float:
    """By the operator's clock, as statuses say."""
    return (parse_time(later) - parse_time(earlier)).total_seconds()


async def test_a_camera_starts_a_show_and_its_end_stops_it(
    operated_namespace: OperatedNamespace, server: GatewayServer
) -> None:
    async with operated(operated_namespace, server.settings, triggers=PATIENCE):
        stream = await show(operated_namespace)
        began = time.monotonic()
        server.tell(stream_state(stream))
        await operated_namespace.phase("Waiting")
        assert 0.9 < time.monotonic() - began < 1.0 + WITHIN_S
        connected = await status_with(operated_namespace, connect="Connected")
        run = await broadcast(operated_namespace)
        assert 0.9 < seconds_between(connected["since"], run["requested"]) < 2.0
        assert run["startedBy"] == "camera"
        began = time.monotonic()
        server.tell(stream_state(stream, online=False, flowing=False))
        run = await ended(operated_namespace)
        assert run["stoppedBy"] == "camera"
        assert -0.1 < time.monotonic() - began - PATIENCE.stop_patience_s < WITHIN_S
        gone = await status_with(operated_namespace, connect="Disconnected")
        took_s = seconds_between(gone["since"], run["stopRequested"]) - PATIENCE.stop_patience_s
        assert -0.1 < took_s < 1.0
        spec = ((await operated_namespace.get("Project", "show")) or {})["spec"]
        assert spec["broadcast"] == {"state": "Stopped"}, "the operator writes no spec"


async def test_a_reconnect_does_not_end_a_show_and_a_stop_by_hand_holds(
    operated_namespace: OperatedNamespace, server: GatewayServer
) -> None:
    async with operated(operated_namespace, server.settings, triggers=PATIENCE):
        stream = await show(operated_namespace)
        server.tell(stream_state(stream))
        run = (await operated_namespace.phase("Waiting"))["broadcast"]["id"]
        server.tell(stream_state(stream, online=False, flowing=False))
        await status_with(operated_namespace, connect="Disconnected")
        server.tell(stream_state(stream))
        since = (await status_with(operated_namespace, connect="Connected"))["since"]
        async with asyncio.timeout(10):
            await _pass(PATIENCE.stop_patience_s + 0.5)
        assert (await broadcast(operated_namespace))["phase"] == "Waiting"
        await operated_namespace.patch("Project", "show", {"broadcast": {"stopped": run}})
        assert (await ended(operated_namespace))["id"] == run
        async with asyncio.timeout(10):
            await _pass(2.0)
        assert (await broadcast(operated_namespace))["id"] == run, f"connected since {since} is no edge"


async def _pass(seconds: float) -> None:
    """Lets the time pass in which nothing may happen."""
    loop = asyncio.get_running_loop()
    passed = loop.create_future()
    loop.call_later(seconds, passed.set_result, None)
    await passed


async def test_another_leader_in_the_middle_of_an_edge_neither_misses_nor_repeats_it(
    operated_namespace: OperatedNamespace, server: GatewayServer
) -> None:
    async with operated(operated_namespace, server.settings, triggers=MORE_PATIENCE):
        stream = await show(operated_namespace)
        server.tell(stream_state(stream))
        await status_with(operated_namespace, connect="Connected")
        assert not await broadcast(operated_namespace), "it has not lasted yet"
    async with operated(operated_namespace, server.settings, triggers=MORE_PATIENCE):
        first = (await operated_namespace.phase("Waiting"))["broadcast"]["id"]
    async with operated(operated_namespace, server.settings, triggers=PATIENCE):
        await triggers_are(operated_namespace, "Connected")
        async with asyncio.timeout(10):
            await _pass(1.5)
        assert (await broadcast(operated_namespace))["id"] == first
    server.tell(stream_state(stream, online=False, flowing=False))
    async with operated(operated_namespace, server.settings, triggers=PATIENCE):
        stopped = await ended(operated_namespace)
        assert (stopped["id"], stopped["stoppedBy"]) == (first, "camera")


async def test_two_operators_act_once_on_an_edge(
    operated_namespace: OperatedNamespace, server: GatewayServer
) -> None:
    async with (
        operated(operated_namespace, server.settings, triggers=PATIENCE),
        operated(operated_namespace, server.settings, triggers=PATIENCE),
    ):
        stream = await show(operated_namespace)
        server.tell(stream_state(stream))
        run = (await operated_namespace.phase("Waiting"))["broadcast"]["id"]
        async with asyncio.timeout(10):
            await _pass(1.5)
        assert (await broadcast(operated_namespace))["id"] == run
        assert (await operated_namespace.events()).count("BroadcastRequested") == 1


SHOWS, ROOM = 12, 3


async def test_a_camera_that_starts_many_shows_at_once_keeps_to_its_owners_quota(
    operated_namespace: OperatedNamespace, server: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are decided side by side, before the API server has the first record of any."""
    monkeypatch.setattr(broadcast_state_machine, "QUOTA_RETRY_S", 0.5)
    quota = RunQuota(broadcasts=ROOM, pixels_per_second=0)
    quotas = RunQuotas(per_user=quota, per_service=RunQuota(broadcasts=0, pixels_per_second=0))
    names = [f"show-{number}" for number in range(SHOWS)]

    async def phases() -> list[str]:
        found = [(await operated_namespace.get("Project", name) or {}).get("status", {}) for name in names]
        return [(status.get("broadcast") or {}).get("phase", status.get("state", "")) for status in found]

    async def until_on_air_are(count: int) -> list[str]:
        async def check() -> list[str] | None:
            found = await phases()
            held = found.count("QuotaExceeded")
            return found if found.count("Waiting") == count and held == SHOWS - count else None

        return await until(check, f"{count} wait for a pod, the others for room", state=lambda: names)

    async with operated(operated_namespace, server.settings, triggers=PATIENCE, quotas=quotas):
        await operated_namespace.collection()
        stream = await camera(operated_namespace)
        for name in names:
            await operated_namespace.project("Stopped", name, sources=[BOTH])
        for name in names:
            await until(partial(_has_triggers, operated_namespace, name), f"{name} knows its camera")
        server.tell(stream_state(stream))
        first = await until_on_air_are(ROOM)
        assert len(await operated_namespace.pods()) <= ROOM
        held = await operated_namespace.ready("Project", names[first.index("QuotaExceeded")], "QuotaExceeded")
        assert "api.quotas.perUser.broadcasts is 3, of which 3 are in use" in held["message"]

        # One that ends makes room for another, and for no more
        ends = names[first.index("Waiting")]
        run = (await operated_namespace.get("Project", ends) or {})["status"]["broadcast"]["id"]
        await operated_namespace.patch("Project", ends, {"broadcast": {"stopped": run}})

        async def taken() -> bool:
            found = await phases()
            others = [phase for name, phase in zip(names, found, strict=True) if name != ends]
            return others.count("Waiting") == ROOM and others.count("QuotaExceeded") == SHOWS - 1 - ROOM

        await until(taken, "another has its place")


async def _has_triggers(operated_namespace: OperatedNamespace, name: str) -> bool:
    return bool(((await operated_namespace.get("Project", name)) or {}).get("status", {}).get("triggers"))
