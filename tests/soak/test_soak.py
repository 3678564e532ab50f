"""A show for a long time: nothing drifts, nothing grows, and a flapping destination costs the others nothing.

Five minutes in the tests; `make soak` goes on for `SOAK_S` seconds (3600).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import statistics
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
import pytest
from tests.integration.encoder.test_pod_pair import newest, page, programme
from tests.support.delivery.storage_server import StorageServer
from tests.support.delivery.toxiproxy import Toxiproxy
from tests.support.media import probe
from tests.support.pod_pair import PodPair, Rtmp, docker

from onair_crds.contract.pod import METRICS_PORT
from onair_crds.contract.program import ProgramDestination

__all__ = ["page"]

SECONDS = float(os.environ.get("ONAIR_SOAK_S", "300"))
SAMPLE_S = 10.0
FLAP_S = 15.0
WARM_UP_S = 40.0
"""Caches fill and the first back-offs run out before growth is looked at."""
MEMORY_GROWTH = 0.05
BROWSER_PLATEAU_MB = 265.0
"""Chromium's heap comes to 250 MB in five minutes and settles at 253: a long run judges its growth."""
SETTLED_S = 1800.0
OFFSET_EVERY_S = max(20.0, SECONDS / 60)
"""One recording says where sound and picture are to a frame or so; drift is told by the medians of many."""
OFFSET_DRIFT_MS = 40.0
OFFSET_MOST_MS = 125.0
"""How far sound may be from its picture before viewers object (ITU-R BT.1359, sound late)."""
SCRAPE_S = 5.0
SCRAPES_KEPT = 360
"""The half hour that the dashboard shows; `make picture` draws it from these."""
BUILD = Path(__file__).parents[2] / "build/soak"


@dataclass(frozen=True)
class Sample:
    at_s: float
    encoder_mb: float
    browser_mb: float
    agent_files: int
    frames: float
    sessions: dict[str, float]
    connected: dict[str, float]


def memory_mb(container: str) -> float:
    """Anonymous memory of a container: what a program holds, without the file cache."""
    script = (
        "import contextlib, pathlib\n"
        "held = 0\n"
        "for p in pathlib.Path('/proc').glob('[0-9]*/smaps_rollup'):\n"
        "    with contextlib.suppress(OSError):\n"  # of another user, or gone meanwhile
        "        held += sum(int(l.split()[1]) for l in p.read_text().splitlines() if 'Pss_Anon:' in l)\n"
        "print(held)"
    )
    return int(docker("exec", container, "python3", "-c", script)) / 1024


def agent_files(container: str) -> int:
    script = (
        "import os, pathlib\n"
        "for p in pathlib.Path('/proc').glob('[0-9]*/cmdline'):\n"
        "    if p.read_bytes().rstrip(b'\\0').endswith(b'onair_encoder\\0agent'):\n"
        "        print(len(os.listdir(p.parent / 'fd')))"
    )
    return int(docker("exec", container, "python3", "-c", script))


def sample(pair: PodPair, began: float) -> Sample:
    text = httpx.get(f"http://{pair.address}:{METRICS_PORT}/metrics").raise_for_status().text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    def by_destination(name: str) -> dict[str, float]:
        return {k.split('"')[1]: float(v) for k, v in values.items() if k.startswith(name + "{")}

    return Sample(
        round(time.monotonic() - began, 1),
        memory_mb(f"{pair.name}-encoder"),
        memory_mb(f"{pair.name}-browser"),
        agent_files(f"{pair.name}-encoder"),
        float(values["onair_encoder_frames_total"]),
        by_destination("onair_destination_sessions_total"),
        by_destination("onair_destination_connected"),
    )


@contextlib.asynccontextmanager
async def flapping(proxy: Toxiproxy, name: str) -> AsyncIterator[None]:
    """A link that is cut and restored again and again."""

    async def flap() -> None:
        while True:
            await asyncio.sleep(FLAP_S)
            await proxy.cut(name)
            await asyncio.sleep(FLAP_S / 3)
            await proxy.restore(name)

    task = asyncio.create_task(flap())
    try:
        yield
    finally:
        task.cancel()


@dataclass(frozen=True)
class Offset:
    """Sound minus picture, in the median of a recording's clicks."""

    at_s: float
    ms: float


@contextlib.asynccontextmanager
async def offsets(far_end: Rtmp, folder: Path, began: float) -> AsyncIterator[list[Offset]]:
    """Records what arrives, again and again, and measures where its sound is."""
    measured: list[Offset] = []

    async def measure() -> None:
        while True:
            next_at = time.monotonic() + OFFSET_EVERY_S
            recording = await asyncio.to_thread(probe.record, far_end.read_url("steady"), 8, folder)
            offset = (await asyncio.to_thread(probe.analyse, recording)).av_distance_ms
            assert offset is not None, "clicks and flashes are missing"
            measured.append(Offset(round(time.monotonic() - began, 1), round(offset, 1)))
            await asyncio.sleep(next_at - time.monotonic())

    task = asyncio.create_task(measure())
    try:
        yield measured
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def keep(folder: Path, at_ms: int, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{at_ms}.txt").write_text(text)
    for old in sorted(folder.iterdir())[:-SCRAPES_KEPT]:
        old.unlink()


@contextlib.asynccontextmanager
async def scraped(pair: PodPair, folder: Path) -> AsyncIterator[None]:
    """Keeps what `/metrics` answers, as `<unix ms>.txt`."""
    shutil.rmtree(folder, ignore_errors=True)

    async def scrape() -> None:
        async with httpx.AsyncClient(base_url=f"http://{pair.address}:{METRICS_PORT}") as http:
            while True:
                asked_ms = time.time_ns() // 1_000_000
                answer = (await http.get("/metrics")).raise_for_status()
                keep(folder, asked_ms, answer.text)
                await asyncio.sleep(SCRAPE_S)

    task = asyncio.create_task(scrape())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_nothing_drifts(tmp_path: Path, page: str) -> None:
    for parent in (tmp_path, tmp_path.parent):
        parent.chmod(0o755)
    gateway = docker("network", "inspect", "bridge", "-f", "{{(index .IPAM.Config 0).Gateway}}")
    image = newest("encoder")
    with Rtmp(newest("mediamtx")) as far_end, PodPair(image, tmp_path, epoch=2) as pair:
        async with StorageServer(tmp_path / "storage", gateway) as storage, Toxiproxy() as proxy:
            storage.bucket()
            port = await proxy.link("flapping", 1935, gateway, far_end.address)
            pair.wait_agent()
            show = programme(page, far_end, "steady", "second")
            flaps = ProgramDestination(
                id="flaps", type="RTMP", url=f"rtmp://{gateway}:{port}/live", key="flaps", timeout_ms=1000
            )
            archive = storage.destination("archive", vod=True)
            pair.put(show.model_copy(update={"destinations": [*show.destinations, flaps, archive]}))
            pair.wait_phase("running")
            began = time.monotonic()
            samples: list[Sample] = []
            async with (
                scraped(pair, BUILD / "metrics"),
                flapping(proxy, "flapping"),
                offsets(far_end, tmp_path, began) as heard,
            ):
                while time.monotonic() - began < SECONDS:
                    samples.append(await asyncio.to_thread(sample, pair, began))
                    await asyncio.sleep(SAMPLE_S)
    BUILD.mkdir(parents=True, exist_ok=True)
    figures = {"avOffsets": [asdict(each) for each in heard], "samples": [asdict(each) for each in samples]}
    (BUILD / "soak.json").write_text(json.dumps(figures, indent=1))
    judge_offsets(heard)
    judge(samples)


def judge_offsets(measured: list[Offset]) -> None:
    warm = [each.ms for each in measured if each.at_s > WARM_UP_S]
    third = len(warm) // 3
    early, late = statistics.median(warm[:third]), statistics.median(warm[-third:])
    print(
        f"\nA/V offset {early:+.0f} → {late:+.0f} ms over {measured[-1].at_s:.0f} s,"
        f" from {min(warm):+.0f} to {max(warm):+.0f}"
    )
    assert abs(late - early) < OFFSET_DRIFT_MS, "sound and picture drift apart"
    assert max(abs(each) for each in warm) < OFFSET_MOST_MS, "sound and picture are apart"


def judge(samples: list[Sample]) -> None:
    long_run = samples[-1].at_s > 1.5 * SETTLED_S
    warm = [each for each in samples if each.at_s > (SETTLED_S if long_run else WARM_UP_S)]
    third = max(1, len(warm) // 3)
    for name in ("encoder_mb", "browser_mb", "agent_files"):
        early = sorted(getattr(each, name) for each in warm[:third])[third // 2]
        late = sorted(getattr(each, name) for each in warm[-third:])[third // 2]
        print(f"{name}: {early:.0f} → {late:.0f}")
        room = early * MEMORY_GROWTH + (4 if name == "agent_files" else 12)
        most = early + room
        if name == "browser_mb" and not long_run:
            most = max(most, BROWSER_PLATEAU_MB)
        assert late <= most, f"{name} grows"
    end = samples[-1]
    assert {name: end.sessions[name] for name in ("steady", "second", "archive")} == {
        "steady": 1,
        "second": 1,
        "archive": 1,
    }
    assert end.sessions["flaps"] >= (end.at_s - WARM_UP_S) / (FLAP_S * 4), "the flapping one comes back"
    seconds = end.at_s - warm[0].at_s
    assert (end.frames - warm[0].frames) / seconds == pytest.approx(30, rel=0.03)
