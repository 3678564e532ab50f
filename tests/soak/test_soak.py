"""A show for a long time: nothing drifts, nothing grows, and a flapping destination costs the others nothing.

A minute by default; `make soak` runs it for `SOAK_S` seconds (3600).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.delivery.storage_server import StorageServer
from tests.support.delivery.toxiproxy import Toxiproxy
from tests.support.docker import host_address, own_image
from tests.support.pages import probe_page
from tests.support.pod_pair import PodPair, programme
from tests.support.soak.bounds import FLAP_S, SHORT_S, Sample, assert_in_sync, assert_steady
from tests.support.soak.sampling import offsets, sample, scraped

from onair_crds.contract.program import ProgramDestination

pytestmark = pytest.mark.media

SECONDS = float(os.environ.get("ONAIR_SOAK_S", "60"))
SAMPLE_S = 10.0 if SECONDS >= SHORT_S else 4.0
OFFSET_EVERY_S = max(20.0, SECONDS / 60) if SECONDS >= SHORT_S else 10.0
BUILD = Path(__file__).parents[2] / "build/soak"


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


async def test_nothing_drifts_and_nothing_grows(tmp_path: Path) -> None:
    host = host_address()
    with probe_page() as page, RtmpContainer(own_image("mediamtx")) as far_end, PodPair(tmp_path) as pair:
        async with StorageServer(tmp_path / "storage", host) as storage, Toxiproxy() as proxy:
            storage.bucket()
            port = await proxy.link("flapping", 1935, host, far_end.address)
            pair.wait_agent()
            show = programme(page, far_end, "steady", "second")
            flaps = ProgramDestination(
                id="flaps", type="RTMP", url=f"rtmp://{host}:{port}/live", key="flaps", timeout_ms=1000
            )
            archive = storage.destination("archive", vod=True)
            pair.put(show.model_copy(update={"destinations": [*show.destinations, flaps, archive]}))
            pair.wait_phase("running")
            began = time.monotonic()
            samples: list[Sample] = []
            async with (
                scraped(pair, BUILD / "metrics"),
                flapping(proxy, "flapping"),
                offsets(far_end, "steady", tmp_path, began, OFFSET_EVERY_S) as measured,
            ):
                while not samples or samples[-1].at_s < SECONDS:
                    samples.append(await asyncio.to_thread(sample, pair, began))
                    await asyncio.sleep(SAMPLE_S)
    BUILD.mkdir(parents=True, exist_ok=True)
    figures = {
        "avOffsets": [asdict(each) for each in measured],
        "samples": [asdict(each) for each in samples],
    }
    (BUILD / "soak.json").write_text(json.dumps(figures, indent=1))
    assert_in_sync(measured, SECONDS)
    assert_steady(samples, steady=("steady", "second", "archive"), flapping="flaps")
