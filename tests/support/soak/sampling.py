"""Samples of a running pod: memory, open files, metrics, and where its audio is."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path

import httpx
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker
from tests.support.media import probe
from tests.support.plain_http import NO_TLS
from tests.support.pod_pair import PodPair
from tests.support.soak.bounds import Offset, Sample

from onair_crds.contract.pod import METRICS_PORT

RECORDING_S = 8
SCRAPE_S = 5.0
SCRAPES_KEPT = 360
"""The half hour that the dashboard shows; `make picture` draws it from these."""

MEMORY_KB = """
import contextlib, pathlib
held = 0
for p in pathlib.Path('/proc').glob('[0-9]*/smaps_rollup'):
    with contextlib.suppress(OSError):  # of another user, or gone meanwhile
        held += sum(int(l.split()[1]) for l in p.read_text().splitlines() if 'Pss_Anon:' in l)
print(held)
"""
AGENT_FILES = """
import os, pathlib
for p in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
    if p.read_bytes().rstrip(b'\\0').endswith(b'onair_encoder\\0agent'):
        print(len(os.listdir(p.parent / 'fd')))
"""


def memory_mb(container: str) -> float:
    """Anonymous memory of a container: what its programs hold, without the file cache."""
    return int(docker("exec", container, "python3", "-c", MEMORY_KB)) / 1024


def agent_files(container: str) -> int:
    return int(docker("exec", container, "python3", "-c", AGENT_FILES))


def sample(pair: PodPair, began: float) -> Sample:
    values = pair.metrics()

    def by_destination(name: str) -> dict[str, float]:
        return {key.split('"')[1]: value for key, value in values.items() if key.startswith(name + "{")}

    return Sample(
        round(time.monotonic() - began, 1),
        memory_mb(f"{pair.name}-encoder"),
        memory_mb(f"{pair.name}-browser"),
        agent_files(f"{pair.name}-encoder"),
        values["onair_encoder_frames_total"],
        by_destination("onair_destination_sessions_total"),
        by_destination("onair_destination_connected"),
    )


@contextlib.asynccontextmanager
async def offsets(
    far_end: RtmpContainer, key: str, folder: Path, began: float, every_s: float
) -> AsyncIterator[list[Offset]]:
    """Records what arrives, again and again, and measures where its audio is."""
    measured: list[Offset] = []

    async def measure() -> None:
        while True:
            next_at = time.monotonic() + every_s
            recording = await asyncio.to_thread(probe.record, far_end.rtmp_url(key), RECORDING_S, folder)
            offset = (await asyncio.to_thread(probe.analyse, recording)).av_distance_ms
            assert offset is not None, "clicks and flashes are missing"
            measured.append(Offset(round(time.monotonic() - began, 1), round(offset, 1)))
            await asyncio.sleep(next_at - time.monotonic())

    async with _in_background(measure()):
        yield measured


@contextlib.asynccontextmanager
async def scraped(pair: PodPair, folder: Path) -> AsyncIterator[None]:
    """Keeps what `/metrics` responds, as `<unix ms>.txt`."""
    shutil.rmtree(folder, ignore_errors=True)

    async def scrape() -> None:
        async with httpx.AsyncClient(base_url=f"http://{pair.address}:{METRICS_PORT}", verify=NO_TLS) as http:
            while True:
                at_ms = time.time_ns() // 1_000_000
                _keep(folder, at_ms, (await http.get("/metrics")).raise_for_status().text)
                await asyncio.sleep(SCRAPE_S)

    async with _in_background(scrape()):
        yield


def _keep(folder: Path, at_ms: int, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{at_ms}.txt").write_text(text)
    for old in sorted(folder.iterdir())[:-SCRAPES_KEPT]:
        old.unlink()


@contextlib.asynccontextmanager
async def _in_background(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Runs beside what the context does; an error of it is raised at the end."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
