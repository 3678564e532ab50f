"""Measures the cost of a WebRTC room and the time to its first frame, with a real server and browser."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.delivery.live_program import live_program
from tests.support.delivery.livekit_server import LiveKitServer, viewer
from tests.support.delivery.rooms import process_of, publishing, room_destination, until_reported

RUNS = 5
WATCHED_S = 10.0
PICTURE = ["-preset", "veryfast", "-profile:v", "high"]
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS_PER_S


def pss_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


async def test_cost_of_a_room(report: Callable[..., float], tmp_path: Path) -> None:
    """Measures at 3 Mbit/s in an empty room: viewers cause load on the server, not on the encoder."""
    with LiveKitServer(tmp_path) as server:
        async with (
            live_program(3000, PICTURE, picture="testsrc2=size=1280x720:rate=30") as fan_out,
            publishing(room_destination(server, "cost"), fan_out) as publisher,
        ):
            await until_reported(publisher, None)
            child = process_of("cost")
            agent_before, child_before, started = cpu_s(os.getpid()), cpu_s(child), time.monotonic()
            await asyncio.sleep(WATCHED_S)
            elapsed = time.monotonic() - started
            report(
                "RTC destination, CPU of its process", [100 * (cpu_s(child) - child_before) / elapsed], "%"
            )
            report(
                "RTC destination, CPU of the agent",
                [100 * (cpu_s(os.getpid()) - agent_before) / elapsed],
                "%",
            )
            assert report("RTC destination, memory of its process", [pss_mib(child)], "MiB", 120) < 240


async def test_time_to_first_frame(report: Callable[..., float], tmp_path: Path) -> None:
    """A browser is in the room before the destination is added; key frames are 1 s apart."""
    seen: list[float] = []
    connected: list[float] = []
    with LiveKitServer(tmp_path) as server:
        async with live_program(1500, PICTURE) as fan_out:
            for number in range(RUNS):
                async with viewer(server, f"first-{number}") as watching:
                    added = time.time()
                    async with publishing(room_destination(server, f"first-{number}"), fan_out) as publisher:
                        await until_reported(publisher, None)
                        connected.append(time.time() - added)
                        seen_record = await watching.until("seen", lambda r: r["pictures"])
                    picture = next(each for each in seen_record["events"] if each["name"] == "picture")
                    seen.append(picture["at"] / 1000 - added)
    report("RTC destination added → connected", connected, "s")
    assert report("RTC destination added → first frame in a browser", seen, "s", 2.0) < 4
