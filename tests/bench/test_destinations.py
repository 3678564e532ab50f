"""Measures the cost of an additional destination, compared with ffmpeg, and the time until it is ready.

Needs no cluster.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.support.delivery.cost import COPY, SETTLE_S, DeliveryProcess, cost, programme, running
from tests.support.delivery.far_end import FarEnd
from tests.support.waiting import wait_for

from onair_encoder.publish.destination_publisher import STEADY_S

__all__ = ["programme"]

MANY = 8
ADDED, KICKED = 15, 8


@pytest.fixture
async def far_end(tmp_path: Path) -> FarEnd:
    return FarEnd(tmp_path)


def rtmp_url(far_end: FarEnd, name: str) -> str:
    return f"rtmp://127.0.0.1:{far_end.rtmp}/open/{name}"


def srt_url(far_end: FarEnd, name: str) -> str:
    return f"srt://127.0.0.1:{far_end.srt}?streamid=publish:open/{name}"


async def test_cost_of_an_additional_destination(
    far_end: FarEnd, programme: Path, report: Callable[..., float]
) -> None:
    names = [f"d{n}" for n in range(MANY)]
    async with far_end:
        delivery = DeliveryProcess(programme)
        baseline = cost(delivery.processes)
        costs = {}
        for kind, url in (("RTMP", rtmp_url), ("SRT", srt_url)):
            delivery.want(*({"id": n, "type": kind, "url": url(far_end, n)} for n in names))
            costs[kind] = cost(delivery.processes)
            delivery.want()
            for name in names:
                await far_end.gone(f"open/{name}")
        delivery.close()
        for kind, form, url in (("RTMP", "flv", rtmp_url), ("SRT", "mpegts", srt_url)):
            commands: list[list[str | Path]] = [
                [*COPY, programme, "-c", "copy", "-f", form, url(far_end, n)] for n in names
            ]
            with running(*commands) as pids:
                children = cost(lambda: pids)
            tee = []
            for count in (1, MANY):
                outputs = "|".join(f"[f={form}]{url(far_end, f'{kind}-{count}-{n}')}" for n in names[:count])
                maps = ["-map", "0", "-c", "copy", "-f", "tee", outputs]
                with running([*COPY, programme, *maps]) as pids:
                    tee.append(cost(lambda: pids))
            bounds = (0.5, 5.0) if kind == "RTMP" else (None, None)
            for index, (resource, unit) in enumerate((("CPU", "%"), ("memory", "MB"))):
                figure = f"additional {kind} destination, {resource}"
                ours = (costs[kind][index] - baseline[index]) / MANY
                report(figure, [ours], unit, bounds[index])
                report(f"{figure}, as a child `ffmpeg -c copy`", [children[index] / MANY], unit)
                added = (tee[1][index] - tee[0][index]) / (MANY - 1)
                report(f"{figure}, in ffmpeg's tee", [added], unit)
                bound = bounds[index]
                assert bound is None or ours < 2 * bound


async def test_time_until_a_destination_is_ready(
    far_end: FarEnd, programme: Path, report: Callable[..., float]
) -> None:
    async with far_end:
        delivery = DeliveryProcess(programme)
        await asyncio.sleep(SETTLE_S)
        for kind, url, bound in (("RTMP", rtmp_url, 100.0), ("SRT", srt_url, None)):
            waits = []
            for number in range(ADDED):
                name = f"{kind.lower()}-{number}"
                wanted_at = delivery.want({"id": name, "type": kind, "url": url(far_end, name)})
                waits.append((ready_at(far_end, f"open/{name}") - wanted_at) * 1000)
            median = report(f"{kind} destination added → ready at the server", waits, "ms", bound)
            assert median == statistics.median(waits)
            assert bound is None or median < 2 * bound
        delivery.close()


async def test_time_until_a_kicked_destination_is_ready_again(
    far_end: FarEnd, programme: Path, report: Callable[..., float]
) -> None:
    """Measures from the server's close of the connection to its report that the path is published again."""
    async with far_end:
        delivery = DeliveryProcess(programme)
        delivery.want({"id": "kicked", "type": "RTMP", "url": rtmp_url(far_end, "kicked")})
        ready_at(far_end, "open/kicked")
        waits = []
        with httpx.Client(base_url=f"http://127.0.0.1:{far_end.api}/v3") as server:
            for _ in range(KICKED):
                await asyncio.sleep(STEADY_S + 0.5)
                waits.append(await asyncio.to_thread(kick, server))
        report("RTMP destination kicked → ready again", waits, "ms", 125.0)
        delivery.close()


def kick(server: httpx.Client) -> float:
    """Kicks the present connection; returns the milliseconds until another one publishes."""
    (connection,) = server.get("/rtmpconns/list").json()["items"]
    kicked_at = time.time()
    server.post(f"/rtmpconns/kick/{connection['id']}").raise_for_status()
    return (replaced_at(server, connection["id"]) - kicked_at) * 1000


def replaced_at(server: httpx.Client, kicked: str) -> float:
    """Waits until another connection publishes; returns the time, seconds of the wall clock."""

    def replaced() -> float | None:
        path = server.get("/paths/get/open/kicked")
        at = time.time()
        source = path.json()["source"] if path.is_success and path.json()["ready"] else None
        return at if source and source["id"] != kicked else None

    return wait_for(replaced, "another connection publishes", 10, poll_s=0.001)


def ready_at(far_end: FarEnd, path: str) -> float:
    """Waits until the server has the path ready; returns the time, seconds of the wall clock."""
    with httpx.Client(base_url=f"http://127.0.0.1:{far_end.api}") as client:

        def ready() -> float | None:
            response = client.get(f"/v3/paths/get/{path}")
            at = time.time()
            return at if response.is_success and response.json()["ready"] else None

        return wait_for(ready, f"{path} is ready", 10, poll_s=0.001)
